"""Intervals of a proportion, and of the difference of two paired proportions."""

from __future__ import annotations

from math import fsum, sqrt
from typing import TYPE_CHECKING, NamedTuple

from warehouse.engine.statistics.arrays import MIN_CLUSTERS
from warehouse.engine.statistics.distributions import normal_quantile, student_quantile

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats

_LEVEL = 0.95


class Interval(NamedTuple):
    """The two ends of an interval.

    Attributes:
        low: lower end.
        high: upper end.
    """

    low: float
    high: float


def wilson(
    passed: float, n: float, *, level: float = _LEVEL, df: int | None = None
) -> Interval | None:
    """Return Wilson's score interval of a proportion; None without a trial.

    Source: Wilson 1927, Journal of the American Statistical Association 22, 209. Equal to the SQL
    macros `wilson_low` and `wilson_high`.

    Args:
        passed: successes; need not be a whole number.
        n: trials; need not be a whole number.
        level: confidence, between 0 and 1.
        df: degrees of freedom, if Student's quantile takes the place of the normal one.
    """
    if n <= 0:
        return None
    tail = (1 + level) / 2
    z = normal_quantile(tail) if df is None else student_quantile(tail, df)
    middle = passed + z**2 / 2
    spread = z * sqrt(max(passed * (n - passed) / n, 0.0) + z**2 / 4)
    low = 0.0 if passed == 0 else max(0.0, float((middle - spread) / (n + z**2)))
    high = 1.0 if passed == n else min(1.0, float((middle + spread) / (n + z**2)))
    return Interval(low, high)


def clustered_interval(sums: Floats, sizes: Floats, *, level: float = _LEVEL) -> Interval | None:
    """Return the interval of a mean of shares in clusters; None below 6 clusters.

    The SQL macro `clustered_interval`, which says how it is made.

    Args:
        sums: sum of the shares of each cluster: shape (clusters,).
        sizes: number of its tasks: shape (clusters,).
        level: confidence, between 0 and 1.
    """
    n_clusters, n, total = len(sums), float(sizes.sum()), fsum(sums)
    if n_clusters < MIN_CLUSTERS:
        return None
    size = n / n_clusters
    middle = (total + size) / (n + 2 * size)
    squares = fsum((sums - middle * sizes) ** 2) + size**2 * (middle**2 + (1 - middle) ** 2)
    trials = n**2 * (n_clusters + 2) / n_clusters * middle * (1 - middle) / squares
    df = max(1, int(n**2 / float((sizes**2).sum()) + 1e-9) - 1)
    return wilson(total / n * min(n, trials), min(n, trials), level=level, df=df)


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
