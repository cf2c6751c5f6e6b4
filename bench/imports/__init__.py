"""Benchmarks of imports, one per format."""
