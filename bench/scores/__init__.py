"""Benchmarks of scoring and of comparisons, with the same rules in plain Python."""
