"""The interval of a ratio of two sums over tasks, such as the cost of a passed call."""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING

from warehouse.engine.statistics.distributions import student_quantile
from warehouse.engine.statistics.proportions import Interval

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats

MIN_TASKS = 20
MIN_PASSED = 10
_TAIL = 0.025


def ratio_limits(amounts: Floats, counts: Floats, *, tail: float = _TAIL) -> Interval | None:
    """Return the interval of the sum of amounts divided by the sum of counts.

    The logarithm of the ratio is linearised over the tasks (Cochran 1977, Sampling Techniques,
    6.4), with Student's quantile.

    Args:
        amounts: the amount of each task, 0 or more, such as what its calls cost.
        counts: the count of each task, such as how many of its calls passed.
        tail: probability that an end is on the wrong side of the ratio: 0.025 for a 95 % interval,
            0.05 for an end that is used alone with 95 % confidence.

    Returns:
        The interval; None below 20 tasks, where fewer than 10 of them have a count above 0, or if
        all amounts are 0.
    """
    n, amount, count = len(amounts), float(amounts.sum()), float(counts.sum())
    if n < MIN_TASKS or int((counts > 0).sum()) < MIN_PASSED or amount <= 0:
        return None
    squares = float(((amounts / amount - counts / count) ** 2).sum())
    reach = student_quantile(1 - tail, n - 1) * sqrt(squares * n / (n - 1))
    return Interval(amount / count * exp(-reach), amount / count * exp(reach))
