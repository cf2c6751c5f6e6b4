"""Tests and intervals of a mean of bounded values, without an assumption about their distribution.

The p-value is Gaffke's (2005, Mathematical Methods of Statistics 14, 413), also described by
Learned-Miller and Thomas (2019, arXiv:1905.06208): the values and one more, the bound that speaks
for the null hypothesis, get random weights, uniformly distributed over all that sum to 1; p is the
probability that the weighted mean agrees with the hypothesis. For values that are one of the two
bounds it is the exact binomial test (Clopper and Pearson). That its level is kept for every
distribution is a conjecture for other values; `docs/gates.md` says how it was checked.

Random weights are exponential variables divided by their sum, so that p is the probability that a
weighted sum of exponential variables is at least 0. It is computed by numerical inversion of the
moment-generating function along a path through its saddlepoint (Daniels 1954, Annals of
Mathematical Statistics 25, 631), to about ten digits.
"""

from __future__ import annotations

from math import inf, isfinite, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.arrays import MIN_CLUSTERS, cluster_sums
from warehouse.engine.statistics.distributions import normal_quantile
from warehouse.engine.statistics.margins import POWER
from warehouse.engine.statistics.proportions import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from warehouse.engine.statistics.arrays import Floats, Indices

_ALPHA = 0.05
_DIGITS = 12  # values that differ by less are equal
_MOST_DISTINCT, _FEW_DIGITS = 2000, 3  # of more values, those that differ by less are joined
_STEPS = 2**24  # of a limit, between the bounds
_LEAST = 1e-15  # of a p-value and its complement, of which a quantile is taken
_SADDLE_STEPS = 60
_SADDLE_ERROR = 1e-9  # standard deviations
# Of the integral, whose variable grows like the hyperbolic sine: it may fall off slowly.
_STEP = 0.08
_BLOCK = 16  # nodes at once
_MOST_BLOCKS = 14
_NEGLIGIBLE = 1e-13
_NEAR_POLE = 0.5  # standard deviations: the path of integration keeps this distance from 0


def excess_of_bounded_means(
    differences: Floats, margin: float, *, largest: float, clusters: Indices | None = None
) -> float | None:
    """Test whether a mean difference is at most `margin`; return the p-value.

    Args:
        differences: difference on each task, in the metric's unit: shape (tasks,).
        margin: the largest difference under the null hypothesis, above `-largest`.
        largest: the largest possible difference, in either direction.
        clusters: the number of each task's cluster, from 0 and without gaps; by default, each task
            is one.

    Returns:
        The p-value; None below 6 clusters.
    """
    sums, sizes = _of_clusters(differences, clusters)
    if len(sums) < MIN_CLUSTERS:
        return None
    return _at_most(sums, sizes, margin, -largest)


def equality_of_bounded_means(
    differences: Floats, *, largest: float, clusters: Indices | None = None
) -> float:
    """Test whether a mean difference is 0; return twice the smaller one-sided p-value.

    Args:
        differences: as in `excess_of_bounded_means`.
        largest: as there.
        clusters: as there.
    """
    sums, sizes = _of_clusters(differences, clusters)
    one_sided = (_at_most(sums, sizes, 0.0, -largest), _at_most(-sums, sizes, 0.0, -largest))
    return min(1.0, 2 * min(one_sided))


def missed_bounded_mean(
    differences: Floats,
    margin: float,
    *,
    largest: float,
    clusters: Indices | None = None,
    alpha: float = _ALPHA,
    power: float = POWER,
) -> float | None:
    """Return the mean difference from which `excess_of_bounded_means` rejects with so much power.

    The differences are taken to be distributed as those seen, but higher. Their variance is that of
    data with two more clusters, one at either bound, so that few tasks without a difference do not
    look as if there were none.

    Args:
        differences: as in the test.
        margin: as in the test.
        largest: as in the test.
        clusters: as in the test.
        alpha: level of the test.
        power: probability of a rejection.

    Returns:
        The difference, in the metric's unit, up to `largest`; None below 6 clusters.
    """
    sums, sizes = _of_clusters(differences, clusters)
    n = len(sums)
    if n < MIN_CLUSTERS:
        return None
    mean = float(sums.sum() / sizes.sum())
    centred = sums - mean * sizes

    def gap(difference: float) -> float:
        p_value = _at_most(centred + difference * sizes, sizes, margin, -largest)
        return _score(alpha) - _score(p_value)

    error = _error(centred, sizes, largest)
    guess = margin - _score(alpha) * error
    least = _first_above(gap, margin, 2 * largest, guess, error)
    return min(largest, least + error * normal_quantile(power))


def bounded_mean_limits(
    values: Floats,
    low: float,
    high: float,
    *,
    clusters: Indices | None = None,
    level: float = 1 - _ALPHA,
) -> Interval | None:
    """Return the interval of a mean that fits `excess_of_bounded_means`; None below 6 clusters.

    Args:
        values: value of each task, in the metric's unit: shape (tasks,).
        low: the least possible value.
        high: the largest possible value.
        clusters: as in the test.
        level: confidence, between 0 and 1.
    """
    sums, sizes = _of_clusters(values, clusters)
    if len(sums) < MIN_CLUSTERS:
        return None
    tail = _score((1 - level) / 2)
    mean = float(sums.sum() / sizes.sum())
    error = _error(sums - mean * sizes, sizes, (high - low) / 2)

    def is_low(limit: float) -> float:
        return _score(_at_most(sums, sizes, limit, low)) - tail

    def is_high(limit: float) -> float:
        return tail - _score(_at_most(-sums, sizes, -limit, -high))

    return Interval(
        _first_above(is_low, low, high, mean + tail * error, error),
        _first_above(is_high, low, high, mean - tail * error, error),
    )


def _error(centred: Floats, sizes: Floats, largest: float) -> float:
    """Return the standard error of a mean, with two more clusters, one at either bound."""
    n, bound = len(sizes), largest * float(sizes.max())
    variance = (float((centred**2).sum()) + 2 * bound**2) / (n + 1)
    return sqrt(variance * (n + 2)) / (float(sizes.sum()) + 2 * float(sizes.mean()))


def _of_clusters(values: Floats, clusters: Indices | None) -> tuple[Floats, Floats]:
    """Return the sum of the values of each cluster, and its number of tasks."""
    if clusters is None:
        return values, np.ones(len(values))
    return cluster_sums(values, clusters), np.bincount(clusters).astype(np.float64)


def _at_most(sums: Floats, sizes: Floats, mean: float, low: float) -> float:
    """Return the p-value of "the mean is at most `mean`"; no value is below `low`."""
    worst = (mean - low) * float(sizes.max())
    if worst <= 0:
        return 0.0
    return chance_of_excess(np.append(mean * sizes - sums, worst))


def _first_above(
    gap: Callable[[float], float], low: float, high: float, guess: float, error: float
) -> float:
    """Return the first point of a grid between two where a function is 0 or more; else the higher.

    By false position, where the value of an end that stays twice is halved (Dowell and Jarratt
    1971, BIT 11, 168).

    Args:
        gap: the function, which rises.
        low: the lower end.
        high: the higher end.
        guess: about where it is.
        error: about how far the function takes to rise by 1.
    """
    below, above = 0, _STEPS
    ends = [(low - guess) / error, (high - guess) / error]
    was_above: bool | None = None
    while above - below > 1:
        at = (below + above) // 2
        if isfinite(ends[1] - ends[0]):
            share = ends[0] / (ends[0] - ends[1])
            at = min(max(below + round(share * (above - below)), below + 1), above - 1)
        value = gap(low + (high - low) * at / _STEPS)
        is_above = value >= 0
        below, above = (below, at) if is_above else (at, above)
        ends[is_above] = value
        if is_above is was_above:
            ends[not is_above] /= 2
        was_above = is_above
    return low + (high - low) * above / _STEPS


def _score(p_value: float) -> float:
    """Return the normal quantile of a p-value: along the mean, it is nearly a straight line."""
    if p_value <= _LEAST or p_value >= 1 - _LEAST:
        return -inf if p_value <= _LEAST else inf
    return normal_quantile(p_value)


def chance_of_excess(values: Floats) -> float:
    """Return the probability that the mean of values with random weights is at least 0.

    The weights are uniformly distributed over all that are positive and sum to 1.

    Args:
        values: the values, at least one above 0: shape (values,).
    """
    each, counts = _distinct(values / float(np.abs(values).max()))
    if each[0] >= 0:
        return 1.0
    # The logarithm of the moment-generating function is -sum(counts * log(1 - each * t)).
    near = _NEAR_POLE / sqrt(float((counts * each**2).sum()))
    line = _saddlepoint(each, counts)
    if abs(line) < near:
        line = near if line >= 0 else -near
    area = _integral(each, counts, line)
    return min(1.0, max(0.0, area if line > 0 else 1 + area))


def _distinct(values: Floats) -> tuple[Floats, Indices]:
    """Return distinct values, ascending, and how often each occurs.

    Many values that are close to each other are replaced by their mean.
    """
    each, counts = np.unique(np.round(values, _DIGITS), return_counts=True)
    if len(each) <= _MOST_DISTINCT:
        return each, counts
    _, places, counts = np.unique(
        np.round(values, _FEW_DIGITS), return_inverse=True, return_counts=True
    )
    return np.bincount(places, weights=values) / counts, counts


def _integral(each: Floats, counts: Indices, start: float) -> float:
    """Return the integral of the moment-generating function, divided by its variable.

    The path is a branch of a hyperbola whose curvature is that of steepest descent, so that the
    integrand does not oscillate before it falls off. Where few values are far from many equal ones
    it can bend towards a pole of those and grow: the path is then a straight line.

    Args:
        each: distinct values.
        counts: how often each occurs.
        start: where the path crosses the real axis.
    """
    slopes = each / (1 - each * start)
    unit = 1 / sqrt(float((counts * slopes**2).sum()))
    bend = 2 / 3 * float((counts * slopes**3).sum()) * unit**3
    area = _along(each, counts, start, unit, bend)
    if area is None:
        area = _along(each, counts, start, unit, 0.0) or 0.0
    return area


def _along(each: Floats, counts: Indices, start: float, unit: float, bend: float) -> float | None:
    """Return the integral along a path; None if that bends to where the integrand grows."""
    area, last = 0.0, inf
    for block in range(_MOST_BLOCKS):
        nodes = np.arange(block * _BLOCK, (block + 1) * _BLOCK) * _STEP
        points = start + unit * (1j * np.sinh(nodes) + bend * (np.cosh(nodes) - 1))
        speeds = unit * (1j * np.cosh(nodes) + bend * np.sinh(nodes))
        reals, imaginaries = np.outer(each, points.real), np.outer(each, points.imag)
        # Minus log(1 - each * points): of complex numbers, NumPy takes 20 times as long for it.
        moduli = np.log1p(reals * (reals - 2) + imaginaries**2) / 2
        angles = np.arctan2(imaginaries, 1 - reals)
        exponents = 1j * (counts @ angles) - counts @ moduli
        sizes = np.append(last, exponents.real - np.log(np.abs(points)))
        if bend != 0 and (sizes[1:] > sizes[:-1]).any():
            return None
        heights = (np.exp(exponents) / points * speeds).imag
        area += float(heights.sum() - (heights[0] / 2 if block == 0 else 0.0))
        if float(np.abs(heights).max()) <= _NEGLIGIBLE * abs(area):
            break
        last = sizes[-1]
    return area * _STEP / pi


def _saddlepoint(each: Floats, counts: Indices) -> float:
    """Return where the moment-generating function is smallest, by Newton's method.

    Where a step leaves what is known to hold the point, the middle of that is tried.

    Args:
        each: distinct values, ascending, the first below 0 and the last above it.
        counts: how often each occurs.
    """
    low, high = float(1 / each[0]), float(1 / each[-1])
    point = 0.0
    for _ in range(_SADDLE_STEPS):
        slopes = each / (1 - each * point)
        first, second = float(counts @ slopes), float(counts @ slopes**2)
        if abs(first) <= _SADDLE_ERROR * sqrt(second):
            break
        low, high = (point, high) if first < 0 else (low, point)
        point -= first / second
        if not low < point < high:
            point = (low + high) / 2
    return point
