"""Statistics of paired comparisons: tests and intervals, as functions of arrays.

They do not know the store. What views compute, too, is in `macros`. `docs/comparisons.md` says when
each is used and how well it keeps its level and coverage.
"""
