"""Statistics of paired comparisons, labels and votes: tests and intervals, as functions of arrays.

They do not know the store. What views compute, too, is in `macros`. `docs/comparisons.md` says when
each is used and how well it keeps its level and coverage, `docs/agreement.md` how well those of
raters do, and `docs/internals/labels-and-votes.md` those of corrected means and of votes.
"""
