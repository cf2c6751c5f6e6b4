"""The ends of an interval, the exact upper bound of a proportion, and Wilson's interval."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from warehouse.engine.statistics.distributions import normal_quantile


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


def wilson_limits(share: float, n: float, *, level: float) -> Interval:
    """Return Wilson's score interval (1927, JASA 22, 209) of a proportion.

    Views have the macros `wilson_low` and `wilson_high`; this is for a number at a time.

    Args:
        share: share of successes, 0 to 1.
        n: trials, above 0; of weighted ones, their effective number.
        level: confidence, between 0 and 1.
    """
    z = normal_quantile((1 + level) / 2)
    middle = share * n + z**2 / 2
    reach = z * sqrt(n * share * (1 - share) + z**2 / 4)
    low = 0.0 if share == 0 else max(0.0, (middle - reach) / (n + z**2))
    return Interval(low, 1.0 if share == 1 else min(1.0, (middle + reach) / (n + z**2)))
