"""Statistics of paired comparisons: tests, intervals and adjustments, as functions of arrays.

They know neither the store nor DuckDB. `docs/comparisons.md` says when each is used and how well it
keeps its level and coverage.
"""
