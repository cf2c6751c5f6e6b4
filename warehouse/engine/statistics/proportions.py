"""The ends of an interval, and the exact upper bound of a proportion."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """The two ends of an interval.

    Attributes:
        low: lower end.
        high: upper end.
    """

    low: float
    high: float


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
