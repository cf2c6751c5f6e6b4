"""One-sided tests of a difference against a margin: is it larger than what is allowed?

Pass or fail with one attempt each is judged by the score statistic of paired proportions with the
restricted maximum-likelihood estimate of the variance (Tango 1998, Statistics in Medicine 17, 891).
Its p-value is exact and unconditional: the largest over the unknown share of discordant tasks,
within a confidence interval of it, whose error is added to the p-value (Berger and Boos 1994,
Journal of the American Statistical Association 89, 1012). The test keeps its level for any number
of tasks. `docs/gates.md` compares its power with that of a test that knows the share.

Values without known bounds are judged by Student's t over clusters, with two clusters added to the
data: one in which the difference is above the margin by the largest amount that occurs, and one in
which it is below it by the same. Without them, rare differences make the test reject more often.
`bounded_means` has the test of values with known bounds.
"""

from __future__ import annotations

from math import ceil, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.statistics.arrays import cluster_sums
from warehouse.statistics.distributions import (
    binomial_cdf,
    normal_quantile,
    normal_tail,
    student_quantile,
    student_tail,
)
from warehouse.statistics.proportions import Interval, clopper_pearson_high

if TYPE_CHECKING:
    from warehouse.statistics.arrays import Floats, Indices

MIN_CLUSTERS = 6
POWER = 0.8
_ALPHA = 0.05
# The error of the confidence interval; it is also the smallest p-value.
_OUTSIDE = 1e-5
_GRID = 64
_ROUNDING = 1e-9
_STEPS = 40
# As in `detectable`: one-sided, so that few tasks do not look as if all models agreed.
_CONFIDENCE = 0.8
_REACH = 10.0  # standard deviations, beyond which a binomial has less than 1e-20


def excess_of_proportions(n_only_a: int, n_only_b: int, n_tasks: int, margin: float) -> float:
    """Test whether the pass rate of A is at most `margin` above that of B; return the p-value.

    Args:
        n_only_a: tasks that only A passed.
        n_only_b: tasks that only B passed.
        n_tasks: tasks that both were asked, at least 1.
        margin: the largest difference under the null hypothesis, -1 to 1, exclusive.
    """
    observed = float(_score(np.array([n_only_a]), np.array([n_only_b]), n_tasks, margin)[0])
    n_discordant = n_only_a + n_only_b
    high = clopper_pearson_high(n_discordant, n_tasks, confidence=1 - _OUTSIDE / 2)
    low = 1 - clopper_pearson_high(n_tasks - n_discordant, n_tasks, confidence=1 - _OUTSIDE / 2)
    # If the difference is the margin, at least so many tasks are discordant.
    shares = np.linspace(max(low, abs(margin)), max(high, abs(margin)), _GRID)
    only_b = np.arange(n_tasks + 1, dtype=np.float64)
    needed = _needed(observed, only_b, n_tasks, margin)
    worst = max(_tail((share - margin) / 2, needed, n_tasks, margin) for share in shares)
    return min(1.0, worst + _OUTSIDE)


def excess_of_means(
    differences: Floats,
    margin: float,
    *,
    clusters: Indices | None = None,
) -> float | None:
    """Test whether a mean difference is at most `margin`; return the p-value.

    Args:
        differences: difference on each task, in the metric's unit: shape (tasks,).
        margin: the largest difference under the null hypothesis.
        clusters: the number of each task's cluster, from 0 and without gaps; by default, each task
            is one.

    Returns:
        The p-value; None below 6 clusters. Where no task differs from the margin, it is 1.
    """
    excess, error, df = _excess(differences - margin, clusters)
    if df < MIN_CLUSTERS - 1:
        return None
    if error == 0:
        return 1.0
    return float(student_tail(excess / error, df))


def missed_proportion(
    n_only_a: int,
    n_only_b: int,
    n_tasks: int,
    margin: float,
    *,
    alpha: float = _ALPHA,
    power: float = POWER,
) -> float:
    """Return the difference from which `excess_of_proportions` rejects with so much power.

    The share of tasks that only B passes is the upper end of its one-sided 80 % interval. The power
    is that of the score statistic under a normal distribution.

    Args:
        n_only_a: tasks that only A passed.
        n_only_b: tasks that only B passed.
        n_tasks: tasks that both were asked, at least 1.
        margin: as in the test.
        alpha: level of the test.
        power: probability of a rejection.
    """
    # Which of the two is the only one to pass is chance if they are alike.
    alike = (n_only_a + n_only_b) / 2
    rate = clopper_pearson_high(min(alike, n_only_b), n_tasks, confidence=_CONFIDENCE)
    low, high = max(margin, 0.0), 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_found = (
            _power(min(rate, (1 - middle) / 2), middle, margin=margin, n_tasks=n_tasks, alpha=alpha)
            >= power
        )
        low, high = (low, middle) if is_found else (middle, high)
    return high


def missed_mean(
    differences: Floats,
    margin: float,
    *,
    clusters: Indices | None = None,
    alpha: float = _ALPHA,
    power: float = POWER,
) -> float | None:
    """Return the mean difference from which `excess_of_means` rejects with so much power.

    Args:
        differences: as in the test.
        margin: as in the test.
        clusters: as in the test.
        alpha: level of the test.
        power: probability of a rejection.

    Returns:
        The difference, in the metric's unit; None below 6 clusters.
    """
    _, error, df = _excess(differences - margin, clusters)
    if df < MIN_CLUSTERS - 1:
        return None
    return margin + error * (student_quantile(1 - alpha, df) + student_quantile(power, df))


def restricted_rate(only_a: Floats, only_b: Floats, n_tasks: int, margin: float) -> Floats:
    """Return the most likely rate of tasks that only B passes, if A's excess is `margin`.

    The positive root of the likelihood's derivative (Tango 1998, equation 7).

    Args:
        only_a: tasks that only A passed, elementwise; need not be whole.
        only_b: tasks that only B passed, elementwise.
        n_tasks: tasks.
        margin: the excess of A's pass rate.
    """
    middle = only_a + only_b + (only_a - only_b - 2 * n_tasks) * margin
    inner = middle**2 + 8 * n_tasks * only_b * margin * (1 - margin)
    root: Floats = (middle + np.sqrt(np.maximum(inner, 0.0))) / (4 * n_tasks)
    return np.clip(root, max(0.0, -margin), (1 - margin) / 2)


def _score(only_a: Floats, only_b: Floats, n_tasks: int, margin: float) -> Floats:
    """Return the score statistic elementwise."""
    rate = restricted_rate(only_a, only_b, n_tasks, margin)
    variance = n_tasks * (2 * rate + margin * (1 - margin))
    excess = only_a - only_b - n_tasks * margin
    excess = np.where(np.abs(excess) < _ROUNDING * n_tasks, 0.0, excess)
    is_certain = variance < _ROUNDING
    # Without a variance, any excess at all is certain.
    score: Floats = excess / np.sqrt(np.where(is_certain, _ROUNDING**2, variance))
    return score


def _needed(observed: float, only_b: Floats, n_tasks: int, margin: float) -> Floats:
    """Return how many tasks only A must pass for a score of at least `observed`, by bisection.

    The score grows with them. Where no number is enough, it is more than there are tasks left.
    """
    below = np.full(len(only_b), -1.0)
    enough = n_tasks - only_b + 1
    for _ in range(ceil(log2(n_tasks + 2)) + 1):
        middle = np.floor((below + enough) / 2)
        score = _score(np.maximum(middle, 0.0), only_b, n_tasks, margin)
        is_enough = score >= observed - _ROUNDING
        is_open = enough - below > 1
        enough = np.where(is_open & is_enough, middle, enough)
        below = np.where(is_open & ~is_enough, middle, below)
    return enough


def _tail(rate: float, needed: Floats, n_tasks: int, margin: float) -> float:
    """Return the probability of a score that is as large, if only B passes at `rate`."""
    spread = _REACH * sqrt(n_tasks * rate * (1 - rate)) + _REACH
    low = max(0, int(n_tasks * rate - spread))
    only_b = np.arange(low, min(n_tasks, ceil(n_tasks * rate + spread)) + 1, dtype=np.float64)
    all_tasks = np.full(len(only_b), float(n_tasks))
    chance = binomial_cdf(only_b, all_tasks, rate) - binomial_cdf(only_b - 1, all_tasks, rate)
    rate_a = min(1.0, (rate + margin) / (1 - rate)) if rate < 1 else 0.0
    left = all_tasks - only_b
    fewer = needed[low : low + len(only_b)] - 1
    beyond = 1 - binomial_cdf(np.minimum(fewer, left), left, rate_a)
    return float((chance * beyond).sum())


def _power(rate: float, excess: float, *, margin: float, n_tasks: int, alpha: float) -> float:
    """Return the chance that the score exceeds its critical value, if A's excess is `excess`."""
    one = np.array([1.0])
    under_null = restricted_rate(one * (rate + excess), one * rate, 1, margin)[0]
    assumed = sqrt(max(2 * float(under_null) + margin * (1 - margin), 0.0))
    true = sqrt(max(2 * rate + excess * (1 - excess), 0.0))
    distance = sqrt(n_tasks) * (excess - margin) - normal_quantile(1 - alpha) * assumed
    if true == 0:
        return float(distance > 0)
    return float(normal_tail(-distance / true))


def _excess(values: Floats, clusters: Indices | None) -> tuple[float, float, int]:
    """Return the mean, its standard error and degrees of freedom, of data with two more clusters.

    The mean is that of the tasks; clusters of different sizes count by their tasks.
    """
    sums = values if clusters is None else cluster_sums(values, clusters)
    sizes = np.ones(len(sums)) if clusters is None else np.bincount(clusters).astype(np.float64)
    if not len(sums):
        return 0.0, 0.0, -1
    size = float(sizes.mean())
    added = size * float(np.abs(values).max())
    all_sums = np.concatenate([sums, [added, -added]])
    all_sizes = np.concatenate([sizes, [size, size]])
    mean = float(all_sums.sum() / all_sizes.sum())
    residuals = all_sums - mean * all_sizes
    n = len(sums)
    variance = float((residuals**2).sum()) * (n + 2) / (n + 1)
    return mean, sqrt(variance) / float(all_sizes.sum()), n - 1


def mean_limits(
    differences: Floats, *, clusters: Indices | None = None, level: float = 1 - _ALPHA
) -> Interval | None:
    """Return the interval of a mean difference that fits `excess_of_means`.

    Student's interval, with the standard error of data with two more clusters. None below 6.

    Args:
        differences: difference on each task, in the metric's unit: shape (tasks,).
        clusters: as in the test.
        level: confidence, between 0 and 1.
    """
    _, error, df = _excess(differences, clusters)
    if df < MIN_CLUSTERS - 1:
        return None
    middle = float(differences.mean())
    reach = error * student_quantile((1 + level) / 2, df)
    return Interval(middle - reach, middle + reach)
