"""Benchmarks: each compares two ways to do the same work, in one run."""
