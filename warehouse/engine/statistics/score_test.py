"""The exact unconditional score test of two pass rates on the same tasks, and its interval.

The statistic is the score of paired proportions with the restricted maximum-likelihood estimate of
the variance (Tango 1998, Statistics in Medicine 17, 891). Its one-sided p-value is the largest over
the unknown share of discordant tasks, those that only one model passed. Without a margin that is
all shares; with one, the shares within a confidence interval, whose error is added to the p-value
(Berger and Boos 1994, Journal of the American Statistical Association 89, 1012). A two-sided
p-value is twice the smaller one-sided one, and the interval has all margins that neither side
rejects. `docs/comparisons.md` has the level and the power.

Without a margin the statistic depends on the number of discordant tasks only, so that the pairs of
one number of tasks share all that is slow. Above 1,000 discordant tasks it is taken as normal.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import ceil, log2, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.distributions import binomial_cdf, normal_quantile, normal_tail
from warehouse.engine.statistics.proportions import Interval, clopper_pearson_high

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.engine.statistics.arrays import Floats

MIN_TASKS = 6
_LEVEL = 0.95
_MANY = 1000  # discordant tasks from which on the statistic is taken as normal
_FEWEST_SHARES = 400
_SPACING = 0.05  # of shares, in standard deviations of the number of discordant tasks
# The error of the confidence interval of the share, for margins other than 0.
_OUTSIDE = 1e-5
_GRID = 64
_ROUNDING = 1e-9
_UNSEEN = 1e-16  # a probability that changes no p-value
_REACH = 10.0  # standard deviations, beyond which a binomial has less than 1e-20
_STEPS = 40
_PRECISION = 1e-7
# From so many discordant tasks of either kind on, and up to this share of all tasks, the interval
# takes the score as normal: its ends are then off by at most 0.4 % of its width.
_MANY_OF_BOTH, _MOST_DISCORDANT = 40, 0.8
# Up to so many tasks the critical score is computed. Above, it exceeds the normal quantile by 0 to
# 1.4 %, depending on the level, and this is taken. It is searched between these multiples of it.
_FEW_TASKS, _MORE_THAN_NORMAL = 200, 0.006
_CRITICAL, _CRITICAL_STEPS = (0.9, 1.6), 12
_NEAR = 0.05  # standard deviations of a task: how far the two intervals usually differ


def equality_p_values(
    n_only_a: Sequence[int], n_only_b: Sequence[int], n_tasks: int
) -> list[float]:
    """Return the two-sided p-value of equal pass rates, for pairs on equally many tasks.

    Args:
        n_only_a: tasks that only A passed, for each pair.
        n_only_b: tasks that only B passed.
        n_tasks: tasks that both were asked, the same for all pairs, at least 1.
    """
    only_a, only_b = np.array(n_only_a, dtype=np.float64), np.array(n_only_b, dtype=np.float64)
    scores = np.abs(_equality_scores(only_a, only_b))
    distinct, places = np.unique(scores, return_inverse=True)
    one_sided = _largest_tails(distinct, n_tasks)[places]
    normal = np.array([normal_tail(score) for score in distinct.tolist()])[places]
    chosen = np.where(only_a + only_b > _MANY, normal, one_sided)
    return [float(p) for p in np.minimum(1.0, 2 * chosen)]


def excess_of_proportions(n_only_a: int, n_only_b: int, n_tasks: int, margin: float) -> float:
    """Test whether the pass rate of A is at most `margin` above that of B; return the p-value.

    Args:
        n_only_a: tasks that only A passed.
        n_only_b: tasks that only B passed.
        n_tasks: tasks that both were asked, at least 1.
        margin: the largest difference under the null hypothesis, -1 to 1, exclusive.
    """
    if margin == 0:
        score = _equality_scores(np.array([float(n_only_a)]), np.array([float(n_only_b)]))
        if n_only_a + n_only_b > _MANY:
            return normal_tail(float(score[0]))
        return float(_largest_tails(score, n_tasks)[0])
    observed = float(_scores(np.array([n_only_a]), np.array([n_only_b]), n_tasks, margin)[0])
    if n_only_a + n_only_b > _MANY:
        return normal_tail(observed)
    n_discordant = n_only_a + n_only_b
    high = clopper_pearson_high(n_discordant, n_tasks, confidence=1 - _OUTSIDE / 2)
    low = 1 - clopper_pearson_high(n_tasks - n_discordant, n_tasks, confidence=1 - _OUTSIDE / 2)
    # If the difference is the margin, at least so many tasks are discordant.
    shares = np.linspace(max(low, abs(margin)), max(high, abs(margin)), _GRID)
    tails = _tails_with_margin(observed, (shares - margin) / 2, n_tasks, margin)
    return min(1.0, float(_vertices(tails[np.newaxis])[0]) + _OUTSIDE)


@cache
def critical_score(n_tasks: int, tail: float) -> float:
    """Return the score from which on the one-sided p-value of equal pass rates is at most `tail`.

    Args:
        n_tasks: tasks that both were asked, at least 1.
        tail: level of the one-sided test, half of that of the two-sided one; below 0.5.
    """
    quantile = normal_quantile(1 - tail)
    if n_tasks > _FEW_TASKS:
        return quantile * (1 + _MORE_THAN_NORMAL)
    low, high = (quantile * multiple for multiple in _CRITICAL)
    for _ in range(2):
        scores = np.linspace(low, high, _CRITICAL_STEPS + 1)
        is_rejected = _largest_tails(scores, n_tasks) <= tail
        first = int(is_rejected.argmax()) if is_rejected.any() else _CRITICAL_STEPS
        low, high = float(scores[max(0, first - 1)]), float(scores[first])
    return high


def difference_interval(
    n_only_a: int, n_only_b: int, n_tasks: int, *, level: float = _LEVEL
) -> Interval | None:
    """Return the interval of the difference of two pass rates that fits the test.

    None below 6 tasks. Its ends are the margins at which a one-sided p-value is half of what the
    level leaves. It excludes 0 if and only if the two-sided p-value is below that.

    Args:
        n_only_a: tasks that only A passed.
        n_only_b: tasks that only B passed.
        n_tasks: tasks that both were asked.
        level: confidence, between 0 and 1.
    """
    if n_tasks < MIN_TASKS:
        return None
    low = _lowest_margin(n_only_a, n_only_b, n_tasks, (1 - level) / 2)
    high = -_lowest_margin(n_only_b, n_only_a, n_tasks, (1 - level) / 2)
    return Interval(low, high)


@cache
def _lowest_margin(n_only_a: int, n_only_b: int, n_tasks: int, alpha: float) -> float:
    """Return the lowest excess of A that the one-sided test does not reject.

    The search starts around the end of the interval that takes the score as normal. It takes
    milliseconds, and boards repeat counts, also with A and B exchanged, so that it is kept.
    """
    from scipy.optimize import brentq

    is_excess = excess_of_proportions(n_only_a, n_only_b, n_tasks, 0.0) <= alpha
    low, high = (0.0, 1.0) if is_excess else (_PRECISION - 1, 0.0)
    high = min(high, (n_only_a - n_only_b) / n_tasks)
    normal_end = _normal_end(n_only_a, n_only_b, n_tasks, alpha)
    n_discordant = n_only_a + n_only_b
    is_normal = n_discordant <= _MOST_DISCORDANT * n_tasks
    if n_discordant > _MANY or (is_normal and min(n_only_a, n_only_b) >= _MANY_OF_BOTH):
        return max(normal_end, _PRECISION) if is_excess else min(normal_end, 0.0)

    def excess(margin: float) -> float:
        return excess_of_proportions(n_only_a, n_only_b, n_tasks, margin) - alpha

    for end in (normal_end - _NEAR / sqrt(n_tasks), normal_end + _NEAR / sqrt(n_tasks)):
        if low < end < high:
            low, high = (end, high) if excess(end) <= 0 else (low, end)
    if excess(low) > 0:
        return -1.0
    return float(brentq(excess, low, high, xtol=_PRECISION))


def _normal_end(n_only_a: int, n_only_b: int, n_tasks: int, alpha: float) -> float:
    """Return the lowest excess of A that the score statistic does not reject, taken as normal."""
    critical = normal_quantile(1 - alpha)
    low, high = -1.0, (n_only_a - n_only_b) / n_tasks
    only_a, only_b = np.array([n_only_a]), np.array([n_only_b])
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_rejected = _scores(only_a, only_b, n_tasks, middle)[0] >= critical
        low, high = (middle, high) if is_rejected else (low, middle)
    return low


def _equality_scores(only_a: Floats, only_b: Floats) -> Floats:
    """Return the score statistics of equal pass rates; 0 where no task is discordant."""
    scores: Floats = (only_a - only_b) / np.sqrt(np.maximum(only_a + only_b, 1.0))
    return scores


def _largest_tails(scores: Floats, n_tasks: int) -> Floats:
    """Return the largest probability of a score that is at least as large, over all shares.

    Args:
        scores: observed scores of equal pass rates: shape (scores,).
        n_tasks: tasks.
    """
    most = min(n_tasks, _MANY)
    tails = _coin_tails(scores, most)
    chances = _discordant_chances(n_tasks, most)
    if n_tasks > most:
        # More discordant tasks than are counted: the statistic is taken as normal.
        normal = np.array([normal_tail(score) for score in scores.tolist()])
        tails = np.hstack([tails, normal[:, np.newaxis]])
        chances = np.hstack([chances, 1 - chances.sum(axis=1, keepdims=True)])
    # One by one: the last digits of a product of matrices depend on the other rows.
    by_share = np.stack([chances @ row for row in tails])
    return np.clip(_vertices(by_share), 0.0, 1.0)


def _vertices(by_share: Floats) -> Floats:
    """Return the largest value of each row, by a parabola through the points around it."""
    top = np.clip(by_share.argmax(axis=1), 1, by_share.shape[1] - 2)
    rows = np.arange(len(by_share))
    left, middle, right = (by_share[rows, top + step] for step in (-1, 0, 1))
    bend = left - 2 * middle + right
    is_top = (bend < 0) & (middle >= left) & (middle >= right)
    rise = np.where(is_top, (left - right) ** 2 / (-8 * np.where(is_top, bend, -1.0)), 0.0)
    highest: Floats = np.maximum(by_share.max(axis=1), middle + rise)
    return highest


def _coin_tails(scores: Floats, most: int) -> Floats:
    """Return the chance of such a score for each number of discordant tasks, fair coins.

    Returns:
        Shape (scores, most + 1): from no discordant task to `most`.
    """
    n_tossed = np.arange(most + 1, dtype=np.float64)
    heads = (n_tossed + np.outer(scores, np.sqrt(n_tossed))) / 2
    fewer = np.ceil(heads - _ROUNDING) - 1
    tails: Floats = 1 - binomial_cdf(fewer, np.broadcast_to(n_tossed, fewer.shape), 0.5)
    tails[:, 0] = scores <= 0
    return tails


@lru_cache(maxsize=1)
def _discordant_chances(n_tasks: int, most: int) -> Floats:
    """Return the chance of each number of discordant tasks, a row for each of many shares.

    The shares are evenly spaced in the arcsine of their root, in which the binomial has the same
    standard deviation everywhere. The pairs of a board ask for the same, one after the other.
    """
    spread = 1 / (2 * sqrt(n_tasks))
    last = pi / 2
    if n_tasks > most:
        last = np.arcsin(sqrt(min(1.0, (most + _REACH * sqrt(most)) / n_tasks)))
    n_shares = max(_FEWEST_SHARES, ceil(last / (_SPACING * spread)) + 2)
    shares = np.sin(np.linspace(0, last, n_shares)) ** 2
    counts = np.arange(most + 1, dtype=np.float64)
    return _binomial_chances(counts, n_tasks, shares[:, np.newaxis])


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


def _scores(only_a: Floats, only_b: Floats, n_tasks: int, margin: float) -> Floats:
    """Return the score statistics elementwise."""
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
        score = _scores(np.maximum(middle, 0.0), only_b, n_tasks, margin)
        is_enough = score >= observed - _ROUNDING
        is_open = enough - below > 1
        enough = np.where(is_open & is_enough, middle, enough)
        below = np.where(is_open & ~is_enough, middle, below)
    return enough


def _tails_with_margin(observed: float, rates: Floats, n_tasks: int, margin: float) -> Floats:
    """Return the probability of a score that is as large, for rates of tasks that only B passes.

    Args:
        observed: the observed score.
        rates: ascending, such that A's excess is `margin`: shape (rates,).
        n_tasks: tasks.
        margin: the excess of A's pass rate.
    """
    least, most = (n_tasks * float(rate) for rate in (rates[0], rates[-1]))
    first = max(0, int(least - _REACH * sqrt(least) - _REACH))
    last = min(n_tasks, ceil(most + _REACH * sqrt(most) + _REACH))
    only_b = np.arange(first, last + 1, dtype=np.float64)
    needed = _needed(observed, only_b, n_tasks, margin)
    is_enough = needed <= n_tasks - only_b
    only_b, needed = only_b[is_enough], needed[is_enough]
    chances = _binomial_chances(only_b, n_tasks, rates[:, np.newaxis])
    # Binomial tails take nearly all of the time: those that would not be seen are left out.
    at_rate, at_count = np.nonzero(chances > _UNSEEN)
    rates_a = np.minimum(1.0, (rates + margin) / np.maximum(1 - rates, _ROUNDING))
    left = n_tasks - only_b
    fewer = binomial_cdf(needed[at_count] - 1, left[at_count], rates_a[at_rate])
    weights = chances[at_rate, at_count] * (1 - fewer)
    tails = np.zeros(len(rates))
    np.add.at(tails, at_rate, weights)
    return tails


def _binomial_chances(counts: Floats, n_tasks: int, shares: Floats) -> Floats:
    """Return the probability of each count, a row for each share of a column."""
    from scipy.special import gammaln, xlog1py, xlogy

    ways = gammaln(n_tasks + 1) - gammaln(counts + 1) - gammaln(n_tasks - counts + 1)
    chances: Floats = np.exp(ways + xlogy(counts, shares) + xlog1py(n_tasks - counts, -shares))
    return chances
