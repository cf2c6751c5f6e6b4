"""Scorers for suites of one's own."""
