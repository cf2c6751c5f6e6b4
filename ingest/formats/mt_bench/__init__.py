"""Reads MT-Bench: judgements of judges and people, in two dialects, questions and tables."""
