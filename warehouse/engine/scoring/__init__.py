"""Scoring functions: pure Python, made available to SQL as UDFs."""
