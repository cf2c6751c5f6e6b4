"""How many tasks a comparison needs, from the variance within and between tasks.

The difference of two models on a task varies between tasks, because one model is better at some of
them, and within a task, because an attempt may succeed or fail by chance. With k attempts of each
model at n tasks, the mean difference has the variance (between + within / k) / n (Cochran 1977,
Sampling Techniques, 3rd edition, equation 10.12, for two-stage samples of many units).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.detectable import score_power
from warehouse.engine.statistics.distributions import normal_quantile, student_quantile
from warehouse.engine.statistics.margins import excess_power

if TYPE_CHECKING:
    from collections.abc import Sequence

POWER = 0.8
_ALPHA = 0.05
_CONFIDENCE = 0.8
_MOST_TASKS = 10**9
# Above, the sum over all numbers of discordant tasks is that of a normal distribution.
_MOST_EXACT = 10**7


@dataclass(frozen=True, slots=True)
class Variance:
    """The variance of a score, or of the difference of two, in the metric's unit squared.

    Attributes:
        between: between the tasks' true means.
        within: of a single attempt around its task's mean; None if no task has two attempts.
        single: of a single attempt at a random task: the sum of both, which is always known.
    """

    between: float | None
    within: float | None
    single: float

    def of_task(self, attempts: int) -> float | None:
        """Return the variance between tasks of the mean of some attempts.

        None for several attempts if the two parts are not known.
        """
        if attempts == 1:
            return self.single
        if self.between is None or self.within is None:
            return None
        return self.between + self.within / attempts


def variance_of(values: Sequence[Sequence[float]]) -> Variance:
    """Return the variance of a score, from an analysis of variance with tasks as groups.

    Args:
        values: the attempts at each task, at least two tasks with at least one.
    """
    counts = np.array([len(each) for each in values], dtype=np.float64)
    means = np.array([sum(each) / len(each) for each in values])
    of_means = float(means.var(ddof=1))
    free = float((counts - 1).sum())
    if free == 0:
        return Variance(None, None, of_means)
    squares = sum(
        sum((value - mean) ** 2 for value in each)
        for each, mean in zip(values, means.tolist(), strict=True)
    )
    within = squares / free
    between = max(0.0, of_means - within * float((1 / counts).mean()))
    return Variance(between, within, between + within)


def variance_of_difference(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> Variance:
    """Return the variance of the difference of two models on the same tasks.

    Of single verdicts it is the share of tasks on which they differ: that the pilot's models differ
    themselves does not make the variance smaller for two that differ by less.

    Args:
        a: the attempts of the first at each task, at least two tasks with at least one.
        b: those of the second, for the same tasks.
    """
    differences = np.array([sum(x) / len(x) - sum(y) / len(y) for x, y in zip(a, b, strict=True)])
    observed = float(differences.var(ddof=1))
    of_a, of_b = variance_of(a), variance_of(b)
    if of_a.within is None or of_b.within is None:
        is_single = all(len(each) == 1 for each in (*a, *b))
        if is_single and np.isin(differences, (-1.0, 0.0, 1.0)).all():
            observed = float((differences**2).mean())
        single = observed if is_single else of_a.single + of_b.single
        return Variance(None, None, single)
    noise_a = of_a.within * float(np.mean([1 / len(each) for each in a]))
    noise_b = of_b.within * float(np.mean([1 / len(each) for each in b]))
    between = max(0.0, observed - noise_a - noise_b)
    within = of_a.within + of_b.within
    return Variance(between, within, between + within)


def variance_against_alike(variance: Variance, correlation: float) -> Variance:
    """Return the variance of the difference from a model that is not known yet.

    It is assumed to vary as much, within and between tasks, and to find the same tasks hard.

    Args:
        variance: of the known model.
        correlation: between the true means of the two models over the tasks, 0 to 1.
    """
    if variance.between is None or variance.within is None:
        # Chance within a task is not shared, so that single attempts correlate less.
        return Variance(None, None, 2 * variance.single * (1 - correlation / 2))
    between, within = 2 * (1 - correlation) * variance.between, 2 * variance.within
    return Variance(between, within, between + within)


def upper_variance(
    variance: float, n_tasks: int, *, scale: float | None, is_verdict: bool
) -> float:
    """Return the upper end of a one-sided 80 % interval of a variance that a pilot estimates.

    Of single verdicts it is that of the share of tasks on which the two differ (Clopper and Pearson
    1934, Biometrika 26, 404); of other values that of a variance, and at least what a pilot without
    any difference leaves open.

    Args:
        variance: the estimate, of the difference on a task.
        n_tasks: tasks of the pilot, at least 2.
        scale: largest possible difference; None if not known.
        is_verdict: whether each difference is of two single verdicts.
    """
    from scipy.special import betaincinv, gammaincinv

    bound = 0.0
    if scale is not None:
        n_differing = min(n_tasks - 1.0, n_tasks * variance / scale**2) if is_verdict else 0.0
        bound = scale**2 * float(betaincinv(n_differing + 1, n_tasks - n_differing, _CONFIDENCE))
    if is_verdict:
        return bound
    df = n_tasks - 1
    return max(bound, variance * df / (2 * float(gammaincinv(df / 2, 1 - _CONFIDENCE))))


def tasks_needed(
    variance: float,
    difference: float,
    *,
    bounds: float = 0.0,
    tail: float = _ALPHA / 2,
    power: float = POWER,
) -> int:
    """Return how many tasks it takes to find a mean difference with Student's t.

    The smallest n with variance / n + bounds / n² <= (difference / (t(1 - tail) + t(power)))²,
    where t has n - 1 degrees of freedom.

    Args:
        variance: of the difference on a task.
        difference: true mean difference, above what is tested, not 0, in the metric's unit.
        bounds: see `detectable.variance_of_bounds`.
        tail: level of the one-sided test, half of that of a two-sided one.
        power: probability that the difference is found.
    """
    error = difference / (normal_quantile(1 - tail) + normal_quantile(power))
    n = max(2, ceil((variance + sqrt(variance**2 + 4 * bounds * error**2)) / (2 * error**2)))
    options = {"bounds": bounds, "tail": tail, "power": power}
    while n < _MOST_TASKS and detectable(variance, n, **options) > abs(difference):
        n += max(1, n // 1000)
    return n


def tasks_needed_of_verdicts(
    share: float, difference: float, *, alpha: float = _ALPHA, power: float = POWER
) -> int:
    """Return how many tasks it takes to find a difference of pass rates with the exact score test.

    The search starts where the score, taken as normal, has the power (Connor 1987, Biometrics 43,
    207), and goes to the smallest number from which on it has, in steps of half a percent.

    Args:
        share: probability that only one of the two passes a task.
        difference: true difference of the pass rates, above 0.
        alpha: level of the two-sided test.
        power: probability that the difference is found.
    """
    share = min(1.0, max(share, difference))
    of_level, of_power = normal_quantile(1 - alpha / 2), normal_quantile(power)
    within = max(share - difference**2, 0.0)
    n = ceil(((of_level * sqrt(share) + of_power * sqrt(within)) / difference) ** 2)
    step = max(1, n // 200)
    while n < _MOST_EXACT and score_power(difference, share, n, alpha=alpha) < power:
        n += step
    while step < n < _MOST_EXACT and score_power(difference, share, n - step, alpha=alpha) >= power:
        n -= step
    return n


def tasks_needed_for_margin(
    share: float, drop: float, margin: float, *, alpha: float = _ALPHA, power: float = POWER
) -> int:
    """Return how many tasks it takes to show that a pass rate dropped by more than a margin.

    Of the one-sided score test of `excess_of_proportions`, with its score as normal.

    Args:
        share: probability that only one of the two passes a task.
        drop: true drop, above `margin`.
        margin: the largest drop that is allowed, 0 or more.
        alpha: level of the test.
        power: probability that the drop is found.
    """
    rate = max(min(1.0, share) - drop, 0.0) / 2
    low, high = 1, 2
    while (
        high < _MOST_TASKS
        and excess_power(rate, drop, margin=margin, n_tasks=high, alpha=alpha) < power
    ):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        found = excess_power(rate, drop, margin=margin, n_tasks=middle, alpha=alpha)
        low, high = (low, middle) if found >= power else (middle, high)
    return high


def detectable(
    variance: float,
    n_tasks: int,
    *,
    bounds: float = 0.0,
    tail: float = _ALPHA / 2,
    power: float = POWER,
) -> float:
    """Return the difference that so many tasks find with Student's t; infinite below two tasks.

    Args:
        variance: of the difference on a task.
        n_tasks: tasks.
        bounds: see `detectable.variance_of_bounds`.
        tail: level of the one-sided test, half of that of a two-sided one.
        power: probability that the difference is found.
    """
    df = n_tasks - 1
    if df < 1:
        return inf
    reach = student_quantile(1 - tail, df) + student_quantile(power, df)
    return reach * sqrt(variance / n_tasks + bounds / n_tasks**2)
