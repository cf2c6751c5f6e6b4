"""One-sided tests of a difference against a margin: is it larger than what is allowed?

Values without known bounds are judged by Student's t over clusters, with two clusters added to the
data: one in which the difference is above the margin by the largest amount that occurs, and one in
which it is below it by the same. Without them, rare differences make the test reject more often.
`score_test` has the test of pass or fail, `bounded_means` that of values with known bounds.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.arrays import MIN_CLUSTERS, cluster_sums
from warehouse.engine.statistics.distributions import (
    normal_quantile,
    normal_tail,
    student_quantile,
    student_tail,
)
from warehouse.engine.statistics.proportions import Interval, clopper_pearson_high
from warehouse.engine.statistics.score_test import restricted_rate

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats, Indices

POWER = 0.8
_ALPHA = 0.05
_STEPS = 40
# As in `detectable`: one-sided, so that few tasks do not look as if all models agreed.
_CONFIDENCE = 0.8


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
            excess_power(
                min(rate, (1 - middle) / 2), middle, margin=margin, n_tasks=n_tasks, alpha=alpha
            )
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


def excess_power(
    rate: float, excess: float, *, margin: float, n_tasks: int, alpha: float = _ALPHA
) -> float:
    """Return the power of `excess_of_proportions`, with its score as normal.

    Args:
        rate: probability that only B passes a task.
        excess: true excess of A's pass rate, so that only A passes with `rate` + `excess`.
        margin: as in the test.
        n_tasks: tasks.
        alpha: level of the test.
    """
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
