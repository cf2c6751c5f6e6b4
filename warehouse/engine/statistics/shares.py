"""Shares of votes or items, each with its interval: whether raters agree, what a judge prefers.

A vote is 1 for the answer that has a property (shown first, longer, of the judge's own family), 0
for the other, 0.5 if undecided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.engine.statistics.bounded_means import bounded_mean_limits
from warehouse.engine.statistics.macros import TaskMeans, share_intervals

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.proportions import Interval


class ShareEstimate(NamedTuple):
    """A share, and its 95 % interval.

    Attributes:
        value: the share, from 0 to 1; None of nothing.
        interval: None of nothing, and below 6 clusters.
    """

    value: float | None
    interval: Interval | None


class ShareDifference(NamedTuple):
    """A judge's share of votes for a property, less that of other raters on the same items.

    Attributes:
        n_items: items on which both voted.
        share: mean over them of the judge's mean vote; None without such items.
        other_share: mean over them of the others' mean vote.
        difference: of the two.
        interval: its 95 % interval; None below 6 items.
    """

    n_items: int
    share: float | None
    other_share: float | None
    difference: float | None
    interval: Interval | None


def share_of_votes(votes: Floats, clusters: Indices | None = None) -> ShareEstimate:
    """Return the mean of votes, each 1 or 0 or, if it is undecided, 0.5, with its interval.

    The interval is that of the leaderboards: Wilson's of independent votes, otherwise by clusters
    (the macro `clustered_interval`). This is how a bias is estimated from votes in one order: a
    vote is 1 for the answer shown first, for the longer one, for that of the judge's own family.

    Args:
        votes: shape (votes,).
        clusters: the number of each vote's cluster (item, prompt), from 0 and without gaps; by
            default, votes are independent.
    """
    if not len(votes):
        return ShareEstimate(None, None)
    sample = TaskMeans(means=votes, n_attempts=len(votes), clusters=clusters)
    return ShareEstimate(float(votes.mean()), share_intervals([sample])[0])


def share_difference(
    votes: Floats, items: Indices, other_votes: Floats, other_items: Indices
) -> ShareDifference:
    """Compare a judge's preference for a property with that of others on the same items.

    A judge may choose longer answers because they are better: then people do, too. The interval is
    that of a mean of values from -1 to 1, `bounded_mean_limits`; each item counts once.

    Args:
        votes: the judge's votes: shape (votes,).
        items: the number of each vote's item; pairs that depend on each other are one item.
        other_votes: those of the other raters: shape (other votes,).
        other_items: the number of each of their items, counted as in `items`.
    """
    n = 1 + int(max(items.max(initial=-1), other_items.max(initial=-1)))
    n_own, n_other = np.bincount(items, minlength=n), np.bincount(other_items, minlength=n)
    shared = np.flatnonzero((n_own > 0) & (n_other > 0))
    if not len(shared):
        return ShareDifference(0, None, None, None, None)
    own = np.bincount(items, weights=votes, minlength=n)[shared] / n_own[shared]
    others = np.bincount(other_items, weights=other_votes, minlength=n)[shared] / n_other[shared]
    return ShareDifference(
        n_items=len(shared),
        share=float(own.mean()),
        other_share=float(others.mean()),
        difference=float((own - others).mean()),
        interval=bounded_mean_limits(own - others, -1.0, 1.0),
    )
