"""Intervals of percentiles by order statistics: no shape of the distribution is assumed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.engine.statistics.distributions import binomial_cdf

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats, Indices

_TAIL = 0.025
# A whole number of tasks is not missed by the last digit of a quotient.
_ROUNDING = 1e-9


class OpenInterval(NamedTuple):
    """The two ends of an interval, either of which may be unknown.

    Attributes:
        low: lower end; None if the data do not bound it.
        high: upper end; None if the data do not bound it.
    """

    low: float | None
    high: float | None


def percentile_limits(
    values: Floats, share: float, *, tasks: Indices | None = None, tail: float = _TAIL
) -> OpenInterval:
    """Return the interval of a percentile of the values.

    The ends are values that occur. How many tasks are at or below the true percentile is binomial,
    whatever the distribution. Attempts at a task are counted as if they were all alike, which is
    the worst case: they do not narrow the interval. Where tasks have different numbers of attempts,
    their number is Kish's effective one (Kish 1965, Survey Sampling, 11.7).

    Args:
        values: the values, in any order.
        share: the percentile as a share, between 0 and 1: 0.95 for p95.
        tasks: number of each value's task, from 0; by default, each value has a task of its own.
        tail: probability that an end is on the wrong side of the percentile, at most: 0.025 for a
            95 % interval, 0.05 for an end that is used alone with 95 % confidence.

    Returns:
        The ends. Of p95 the upper one is known from 72 tasks on (59 with a tail of 0.05).
    """
    n = independent_tasks(np.ones(len(values)) if tasks is None else np.bincount(tasks))
    below, above = percentile_ranks(n, share, tail=tail)
    ordered = np.sort(values)
    each = len(ordered) / max(n, 1)
    # More than `below - 1` tasks, and at least `above`, in values.
    low = None if below is None else float(ordered[int((below - 1) * each + _ROUNDING)])
    high = None if above is None else float(ordered[int(np.ceil(above * each - _ROUNDING)) - 1])
    return OpenInterval(low, high)


def independent_tasks(attempts: Floats | Indices) -> int:
    """Return how many tasks with one attempt each tell as much as tasks with so many attempts.

    Args:
        attempts: number of attempts at each task; 0 is not counted.
    """
    total, squares = float(attempts.sum()), float((attempts.astype(np.float64) ** 2).sum())
    return int(total**2 / squares + _ROUNDING) if squares > 0 else 0


@lru_cache
def percentile_ranks(n: int, share: float, *, tail: float = _TAIL) -> tuple[int | None, int | None]:
    """Return the ranks of the ends of a percentile's interval among `n` independent values.

    Args:
        n: number of values.
        share: the percentile as a share, between 0 and 1.
        tail: as in `percentile_limits`.

    Returns:
        The ranks from 1; None where even the smallest or largest value is not far enough away.
    """
    counts = np.arange(n + 1, dtype=np.float64)
    at_most = binomial_cdf(counts, np.full(n + 1, float(n)), share)
    at_least = binomial_cdf(n - counts, np.full(n + 1, float(n)), 1 - share)
    below = int((at_most <= tail).sum())
    above = n + 1 - int((at_least <= tail).sum())
    return below or None, above if above <= n else None
