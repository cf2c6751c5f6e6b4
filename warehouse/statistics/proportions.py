"""Intervals of a proportion, and of the difference of two paired proportions."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from warehouse.statistics.distributions import normal_quantile

_LEVEL = 0.95


class Interval(NamedTuple):
    """The two ends of an interval.

    Attributes:
        low: lower end.
        high: upper end.
    """

    low: float
    high: float


def wilson(passed: float, n: float, *, level: float = _LEVEL) -> Interval | None:
    """Return Wilson's score interval of a proportion; None without a trial.

    Source: Wilson 1927, Journal of the American Statistical Association 22, 209. Equal to the SQL
    macros `wilson_low` and `wilson_high`.

    Args:
        passed: successes; need not be a whole number.
        n: trials; need not be a whole number.
        level: confidence, between 0 and 1.
    """
    if n <= 0:
        return None
    z = normal_quantile((1 + level) / 2)
    middle = passed + z**2 / 2
    spread = z * sqrt(max(passed * (n - passed) / n, 0.0) + z**2 / 4)
    low = 0.0 if passed == 0 else max(0.0, float((middle - spread) / (n + z**2)))
    high = 1.0 if passed == n else min(1.0, float((middle + spread) / (n + z**2)))
    return Interval(low, high)


def newcombe(
    n_both: int, n_only_a: int, n_only_b: int, n_neither: int, *, level: float = _LEVEL
) -> Interval | None:
    """Return the interval of the difference of two paired proportions; None without a task.

    Newcombe's hybrid of Wilson's intervals with a continuity-corrected phi (Newcombe 1998,
    Statistics in Medicine 17, 2635, method 10). Equal to the SQL macro `newcombe_interval`.

    Args:
        n_both: tasks that both models passed.
        n_only_a: tasks that only the first passed.
        n_only_b: tasks that only the second passed.
        n_neither: tasks that neither passed.
        level: confidence, between 0 and 1.
    """
    n = n_both + n_only_a + n_only_b + n_neither
    passed_a, passed_b = n_both + n_only_a, n_both + n_only_b
    of_a, of_b = wilson(passed_a, n, level=level), wilson(passed_b, n, level=level)
    if of_a is None or of_b is None:
        return None
    excess = float(n_both) * n_neither - float(n_only_a) * n_only_b
    corrected = max(excess - n / 2, 0.0) if excess > 0 else excess
    product = float(passed_a) * (n - passed_a) * passed_b * (n - passed_b)
    phi = corrected / sqrt(product) if product > 0 else 0.0
    rate_a, rate_b = passed_a / n, passed_b / n
    below = _hybrid(rate_a - of_a.low, of_b.high - rate_b, phi)
    above = _hybrid(of_a.high - rate_a, rate_b - of_b.low, phi)
    return Interval(rate_a - rate_b - below, rate_a - rate_b + above)


def clopper_pearson_high(passed: float, n: float, *, confidence: float) -> float:
    """Return an upper bound of a proportion that is exact for whole numbers; 1.0 without a trial.

    Source: Clopper and Pearson 1934, Biometrika 26, 404; one-sided.

    Args:
        passed: successes.
        n: trials.
        confidence: probability that the bound is above the proportion, between 0 and 1.
    """
    from scipy.special import betaincinv

    if passed >= n:
        return 1.0
    return float(betaincinv(passed + 1, n - passed, confidence))


def _hybrid(of_a: float, of_b: float, phi: float) -> float:
    """Return the distance of an end from the difference, of the distances of the single ends."""
    return float(sqrt(of_a**2 - 2 * phi * of_a * of_b + of_b**2))
