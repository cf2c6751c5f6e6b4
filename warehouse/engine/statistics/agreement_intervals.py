"""95 % intervals of kappa and alpha, by resampling the items.

Few items often show no disagreement, or a label hardly at all, and so do all resamples of them.
Therefore each resample has two items less, and in their place, on average, one on which the raters
agree, on any of the labels that occur, and one on which they disagree, on any two. Of two labels
that is half an item in each of the four cells. `docs/agreement.md` has the coverage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warehouse.engine.statistics.agreement import (
    alpha_values,
    cohen_kappa,
    item_disagreements,
    kappa_values,
    krippendorff_alpha,
    pairable_ratings,
)
from warehouse.engine.statistics.arrays import MIN_CLUSTERS
from warehouse.engine.statistics.proportions import Interval
from warehouse.engine.statistics.symmetry import SEED

if TYPE_CHECKING:
    from warehouse.engine.statistics.agreement import LabelCounts, Level, Weights
    from warehouse.engine.statistics.arrays import Floats, Indices

_RESAMPLES = 2000
# More are joined at random to so many, which adds 2 % to the error of the width.
_MOST_UNITS = 1000
_TAIL = 0.025
_ADDED = 2
_PLAIN = 2  # axes of a table that is not by clusters


class KappaChange(NamedTuple):
    """The difference of two kappas, the later less the earlier.

    Attributes:
        before: the earlier; None where it is not defined.
        after: the later.
        difference: None where one of them is not defined.
        interval: its 95 % interval; None also with fewer than 6 items, or clusters, in either.
        p_value: of no difference, by the same resamples: 0.001 at least.
    """

    before: float | None
    after: float | None
    difference: float | None = None
    interval: Interval | None = None
    p_value: float | None = None


class _AddedItems(NamedTuple):
    """Items added to resamples: the number of the resample, and the two labels of each."""

    resamples: Indices
    first: Indices
    second: Indices


def kappa_interval(
    tables: Floats, weights: Weights = "none", *, seed: int = SEED
) -> Interval | None:
    """Return the 95 % interval of `cohen_kappa`.

    Args:
        tables: items by the labels of both raters: shape (labels, labels); or one for each cluster
            of items that depend on each other: shape (clusters, labels, labels).
        weights: as in `cohen_kappa`.
        seed: of the resamples.

    Returns:
        The interval; None where kappa is, and below 6 items or clusters.
    """
    kappa = cohen_kappa(_total(tables), weights)
    if kappa is None or _n_units(tables) < MIN_CLUSTERS:
        return None
    random = np.random.default_rng(seed)
    return _percentiles(_kappas(_resampled(tables, random), tables, weights, random), kappa)


def kappa_change(
    before: Floats, after: Floats, weights: Weights = "none", *, seed: int = SEED
) -> KappaChange:
    """Compare the kappa of a judge in two periods, or of two of its versions: has it drifted?

    Args:
        before: the tables of the earlier one, as in `kappa_interval`.
        after: those of the later one. By clusters, both have the same ones: items that were judged
            twice are resampled together.
        weights: as in `cohen_kappa`.
        seed: of the resamples.
    """
    earlier, later = (cohen_kappa(_total(each), weights) for each in (before, after))
    if earlier is None or later is None:
        return KappaChange(earlier, later)
    difference = later - earlier
    if min(_n_units(before), _n_units(after)) < MIN_CLUSTERS:
        return KappaChange(earlier, later, difference)
    random = np.random.default_rng(seed)
    if before.ndim == _PLAIN:
        drawn = [_resampled(each, random) for each in (before, after)]
    else:
        drawn = np.split(_resampled(np.concatenate([before, after], axis=2), random), 2, axis=2)
    old, new = (
        _kappas(resamples, tables, weights, random)
        for resamples, tables in zip(drawn, (before, after), strict=True)
    )
    changes = new - old
    interval = _percentiles(changes, difference)
    defined = changes[~np.isnan(changes)]
    n_against = min(np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0))
    p_value = min(1.0, 2 * (n_against + 1) / (len(defined) + 1))
    return KappaChange(earlier, later, difference, interval, p_value)


def alpha_interval(
    ratings: LabelCounts, level: Level, *, clusters: Indices | None = None, seed: int = SEED
) -> Interval | None:
    """Return the 95 % interval of `krippendorff_alpha`; ordinal labels keep their mean ranks.

    Args:
        ratings: as in `krippendorff_alpha`.
        level: as in `krippendorff_alpha`.
        clusters: the number of each item's cluster, the items of which are resampled together:
            shape (items,); by default, each item is one.
        seed: of the resamples.

    Returns:
        The interval; None where alpha is, and below 6 items with two ratings, or clusters of them.
    """
    alpha = krippendorff_alpha(ratings, level)
    if alpha is None:
        return None
    random = np.random.default_rng(seed)
    paired = pairable_ratings(ratings, level)
    in_clusters = paired.originals if clusters is None else clusters[paired.originals]
    n_units, units = _numbered(in_clusters, random)
    if n_units < MIN_CLUSTERS:
        return None
    shape = (int(units.max()) + 1, len(paired.scores))
    sums = np.zeros(shape)
    np.add.at(sums, (units[paired.items], paired.labels), paired.counts)
    disagreements = np.bincount(units, weights=item_disagreements(paired, level))
    chosen = _chosen(shape[0], random)
    margins, observed = chosen @ sums, chosen @ disagreements
    resamples, first, second = _added_items(n_units, sums.sum(axis=0), random)
    size = float(paired.counts.sum()) / n_units
    np.add.at(margins, (resamples, first), size / 2)
    np.add.at(margins, (resamples, second), size / 2)
    steps = paired.scores[first] - paired.scores[second]
    np.add.at(observed, resamples, size * (first != second if level == "nominal" else steps**2))
    return _percentiles(alpha_values(margins, observed, paired.scores, level), alpha)


def _total(tables: Floats) -> Floats:
    total: Floats = tables if tables.ndim == _PLAIN else tables.sum(axis=0)
    return total


def _n_units(tables: Floats) -> int:
    """Return the number of items, or of the clusters that have any."""
    if tables.ndim == _PLAIN:
        return int(tables.sum())
    return int(np.count_nonzero(tables.any(axis=(1, 2))))


def _numbered(units: Indices, random: np.random.Generator) -> tuple[int, Indices]:
    """Return how many units there are, and the number from 0 of each row's, of 1,000 at most."""
    numbers = np.unique(units, return_inverse=True)[1]
    n_units = int(numbers.max()) + 1
    if n_units > _MOST_UNITS:
        numbers = (random.permutation(n_units) % _MOST_UNITS)[numbers]
    return n_units, numbers


def _chosen(n_units: int, random: np.random.Generator) -> Floats:
    """Return how often each unit is in each resample: shape (resamples, units)."""
    shares = np.full(n_units, 1 / n_units)
    return random.multinomial(n_units - _ADDED, shares, _RESAMPLES).astype(np.float64)


def _resampled(tables: Floats, random: np.random.Generator) -> Floats:
    """Return the table of each resample: shape (resamples, labels, labels)."""
    if tables.ndim == _PLAIN:
        shares = tables.ravel() / tables.sum()
        drawn = random.multinomial(int(tables.sum()) - _ADDED, shares, _RESAMPLES)
        return drawn.astype(np.float64).reshape(-1, *tables.shape)
    _, units = _numbered(np.arange(len(tables)), random)
    joined = np.zeros((int(units.max()) + 1, *tables.shape[1:]))
    np.add.at(joined, units, tables)
    chosen = _chosen(len(joined), random)
    return (chosen @ joined.reshape(len(joined), -1)).reshape(-1, *tables.shape[1:])


def _kappas(drawn: Floats, tables: Floats, weights: Weights, random: np.random.Generator) -> Floats:
    """Return kappa of each resample of some tables, after items are added."""
    total, n_units = _total(tables), _n_units(tables)
    added = _added_items(n_units, total.sum(axis=0) + total.sum(axis=1), random)
    with_added = drawn.copy()
    np.add.at(with_added, tuple(added), float(total.sum()) / n_units)
    return kappa_values(with_added, weights)


def _added_items(n_units: int, margins: Floats, random: np.random.Generator) -> _AddedItems:
    """Draw the items that are added; on average, one of each kind in each resample."""
    labels = np.flatnonzero(margins)
    n_agreed, n_not = random.binomial(n_units, 1 / n_units, (_ADDED, _RESAMPLES))
    resamples = np.repeat(np.tile(np.arange(_RESAMPLES), 2), np.concatenate([n_agreed, n_not]))
    first = random.integers(len(labels), size=len(resamples))
    steps = random.integers(1, len(labels), size=len(resamples))
    steps[: n_agreed.sum()] = 0
    return _AddedItems(resamples, labels[first], labels[(first + steps) % len(labels)])


def _percentiles(values: Floats, estimate: float) -> Interval | None:
    """Return the middle 95 % of the resamples in which a figure is defined, and the figure."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, (_TAIL, 1 - _TAIL))
    return Interval(min(float(low), estimate), max(float(high), estimate))
