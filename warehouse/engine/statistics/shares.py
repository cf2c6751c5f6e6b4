"""Shares of votes or items, each with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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


def share_of_counts(n_hits: float, n: float) -> ShareEstimate:
    """Return the share of independent items, with Wilson's interval.

    Source: Wilson 1927, Journal of the American Statistical Association 22, 209.

    Args:
        n_hits: items that are counted.
        n: all items.
    """
    return share_of_votes(np.repeat([1.0, 0.0], [int(n_hits), int(n - n_hits)]))


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
