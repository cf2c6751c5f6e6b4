"""Benchmarks of commands and runs: start, first use, pages, calls of models, recorded results."""
