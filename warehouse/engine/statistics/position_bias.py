"""Whether a judge prefers the answer shown first, a longer one, or its own family's.

A vote is 1 for the answer that has the property, 0 for the other, 0.5 if undecided. Of votes in one
order, `shares.share_of_votes` estimates the share of such an answer; what follows is of pairs that
were judged in both orders, and of votes by others on the same items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.engine.scoring.bootstrap import holm
from warehouse.engine.statistics.bounded_means import bounded_mean_limits
from warehouse.engine.statistics.distributions import binomial_cdf
from warehouse.engine.statistics.shares import share_of_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.proportions import Interval
    from warehouse.engine.statistics.shares import ShareEstimate

FIRST, SECOND, TIE = range(3)


class PositionBias(NamedTuple):
    """What pairs show of a judge that was shown their answers in both orders.

    Attributes:
        n_pairs: pairs with a verdict in both orders.
        n_first_twice: pairs of which the answer shown first won both times.
        n_second_twice: pairs of which the one shown second did.
        n_more_first: pairs of which the first won more often; the other time may be a tie.
        n_more_second: pairs of which the second did.
        consistent: the share of pairs with the same winner, or a tie, in both orders.
        p_value: of "the first is not preferred, nor the second", exact and two-sided; None without
            an inconsistent pair.
    """

    n_pairs: int
    n_first_twice: int
    n_second_twice: int
    n_more_first: int
    n_more_second: int
    consistent: ShareEstimate
    p_value: float | None


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


def position_bias(table: Floats) -> PositionBias:
    """Test whether a judge takes the answer shown first, or second, more often.

    If the order does not matter, of the pairs with different verdicts as many favour the first as
    the second, whichever answer is better: the sign test (Dixon and Mood 1946, Journal of the
    American Statistical Association 41, 557).

    Args:
        table: pairs by the verdict in one order, in rows, and in the other: shape (3, 3), `FIRST`,
            `SECOND` (the position that won, not the answer) or `TIE`.
    """
    n_first = int(table[FIRST, FIRST] + table[FIRST, TIE] + table[TIE, FIRST])
    n_second = int(table[SECOND, SECOND] + table[SECOND, TIE] + table[TIE, SECOND])
    n = int(table.sum())
    return PositionBias(
        n_pairs=n,
        n_first_twice=int(table[FIRST, FIRST]),
        n_second_twice=int(table[SECOND, SECOND]),
        n_more_first=n_first,
        n_more_second=n_second,
        consistent=share_of_counts(n - n_first - n_second, n),
        p_value=sign_p_value(n_first, n_second),
    )


def sign_p_value(n_first: int, n_second: int) -> float | None:
    """Return the exact two-sided p-value of the sign test; None where both are 0."""
    n = n_first + n_second
    if n == 0:
        return None
    tail = binomial_cdf(np.array([min(n_first, n_second)]), np.array([n]), 0.5)
    return min(1.0, 2 * float(tail[0]))


def adjusted_p_values(tests: Sequence[PositionBias]) -> list[float | None]:
    """Return each judge's p-value, adjusted for all of them by Holm's method.

    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65.
    """
    return holm([test.p_value for test in tests])


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
