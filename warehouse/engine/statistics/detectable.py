"""The difference that a comparison of so many tasks would probably have found.

Both functions take an upper bound of how much the models differ from task to task, not the
estimate: few tasks that happen to agree do not show that a small difference would have been seen.
"""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.arrays import cluster_sums
from warehouse.engine.statistics.distributions import binomial_cdf, student_quantile
from warehouse.engine.statistics.proportions import clopper_pearson_high
from warehouse.engine.statistics.score_test import critical_score

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.statistics.proportions import Interval

POWER = 0.8
MIN_TASKS = 20
_ALPHA = 0.05
# One-sided, as Browne 1995 (Statistics in Medicine 14, 1933) proposes for a pilot's variance.
_CONFIDENCE = 0.8
_STEPS = 14
_ROUNDING = 1e-9


def detectable_proportion(
    n_discordant: int, n_tasks: int, *, alpha: float = _ALPHA, power: float = POWER
) -> float | None:
    """Return the difference of two pass rates that the score test would find.

    The share of discordant tasks is the upper end of its one-sided 80 % Clopper-Pearson interval.

    Args:
        n_discordant: tasks that only one of the models passed.
        n_tasks: tasks that both were asked.
        alpha: level of the two-sided test.
        power: probability that the difference is found.

    Returns:
        The difference, 0 to 1 and never 0; None below 20 tasks, and where none can be found.
    """
    if n_tasks < MIN_TASKS:
        return None
    share = clopper_pearson_high(n_discordant, n_tasks, confidence=_CONFIDENCE)
    if score_power(1.0, 1.0, n_tasks, alpha=alpha) < power:
        return None
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        found = score_power(middle, max(share, middle), n_tasks, alpha=alpha)
        low, high = (low, middle) if found >= power else (middle, high)
    return high


def detectable_mean(
    standard_error: float,
    n_clusters: int,
    *,
    bounds: float = 0.0,
    alpha: float = _ALPHA,
    power: float = POWER,
) -> float | None:
    """Return the mean difference that a test over so many clusters would find.

    The standard error is raised to the upper end of its one-sided 80 % interval under a normal
    distribution (chi-squared). The difference is (t(1 - alpha / 2) + t(power)) times it.

    Args:
        standard_error: of the mean difference, above 0, in the metric's unit.
        n_clusters: clusters, or tasks where each is one.
        bounds: what the test adds to the variance of the mean; see `variance_of_bounds`.
        alpha: level of the two-sided test.
        power: probability that the difference is found.

    Returns:
        The difference in the metric's unit; None below 20 clusters, and if the error is 0.
    """
    from scipy.special import chdtri

    if n_clusters < MIN_TASKS or not standard_error > 0:
        return None
    df = n_clusters - 1
    bound = sqrt(standard_error**2 * df / float(chdtri(df, _CONFIDENCE)) + bounds)
    return bound * (student_quantile(1 - alpha / 2, df) + student_quantile(power, df))


def variance_of_bounds(
    differences: Floats, interval: Interval | None, clusters: Indices | None
) -> float:
    """Return what the test of a bounded mean adds to the variance of the sum over all tasks.

    It is as if two more clusters were at the bounds, so that the interval is wider than Student's:
    by about as much of the sum, whatever the number of tasks.

    Args:
        differences: of the tasks: shape (tasks,).
        interval: of their mean, by the test, with 95 % confidence; None adds nothing.
        clusters: cluster of each task, from 0 on; None if each is one.
    """
    if interval is None:
        return 0.0
    sums = differences - differences.mean()
    if clusters is not None:
        sums = cluster_sums(sums, clusters)
    n = len(sums)
    error = len(differences) * (interval.high - interval.low) / 2 / student_quantile(0.975, n - 1)
    return max(0.0, error**2 - float((sums**2).sum()) * n / (n - 1))


def score_power(
    difference: float, discordance: float, n_tasks: int, *, alpha: float = _ALPHA
) -> float:
    """Return the probability that the exact score test finds a difference of two pass rates.

    The number of discordant tasks is binomial, and given it the number that the better model passed
    is too; the power is their sum (Suissa and Shuster 1991, Biometrics 47, 361).

    Args:
        difference: of the pass rates, 0 to 1.
        discordance: probability that only one model passes a task, at least `difference`.
        n_tasks: tasks.
        alpha: level of the two-sided test.
    """
    if discordance <= 0:
        return 0.0
    spread = 8 * sqrt(n_tasks * discordance * (1 - discordance)) + 1
    least = max(1, floor(n_tasks * discordance - spread))
    most = min(n_tasks, ceil(n_tasks * discordance + spread))
    counts = np.arange(least, most + 1, dtype=np.float64)
    # The largest number of losses whose score is significant.
    losses = np.floor(
        (counts - critical_score(n_tasks, alpha / 2) * np.sqrt(counts)) / 2 + _ROUNDING
    )
    lost = (discordance - difference) / (2 * discordance)
    found = binomial_cdf(losses, counts, lost) + binomial_cdf(losses, counts, 1 - lost)
    all_tasks = np.full(len(counts), float(n_tasks))
    chances = binomial_cdf(counts, all_tasks, discordance)
    chances -= binomial_cdf(counts - 1, all_tasks, discordance)
    return float((chances * found).sum())
