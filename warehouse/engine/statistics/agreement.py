"""How far raters agree beyond chance: Cohen's kappa, Krippendorff's alpha.

A figure is None where it is not defined; a coefficient of 0 always means agreement by chance.
`agreement_intervals` has their intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from warehouse.engine.statistics.arrays import Floats, Indices

Weights: TypeAlias = Literal["none", "linear", "quadratic"]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
_PAIR = 2  # raters, items or labels of which one fewer shows nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """How many raters gave an item a label: a row for each item and label that occur together.

    Attributes:
        items: the number of the item, from 0 and without gaps: shape (rows,).
        labels: the number of the label, from 0 and in the order of the scale: shape (rows,).
        counts: ratings: shape (rows,).
        values: the value of each label, for alpha of intervals: shape (labels,).
    """

    items: Indices
    labels: Indices
    counts: Floats
    values: Floats


class PairableRatings(NamedTuple):
    """The ratings of items that have two or more: a row for each item and label.

    Attributes:
        items: the number of the item among them: shape (rows,).
        originals: its number among all: shape (items,).
        labels: the number of the label: shape (rows,).
        counts: ratings: shape (rows,).
        scores: the labels' values, or mean ranks of ordinal ones, around 0: shape (labels,).
    """

    items: Indices
    originals: Indices
    labels: Indices
    counts: Floats
    scores: Floats


def label_counts(items: Indices, ratings: Floats) -> LabelCounts:
    """Count ratings, given one by one; equal values are one label.

    Args:
        items: the number of each rating's item, from 0 and without gaps: shape (ratings,).
        ratings: its value, or the number of its label: shape (ratings,).
    """
    values, labels = np.unique(ratings, return_inverse=True)
    cells, counts = np.unique(items * len(values) + labels, return_counts=True)
    return LabelCounts(
        items=cells // len(values),
        labels=cells % len(values),
        counts=counts.astype(np.float64),
        values=values.astype(np.float64),
    )


def cohen_kappa(table: Floats, weights: Weights = "none") -> float | None:
    """Return Cohen's kappa of two raters, 1 at most.

    Source: Cohen 1960, Educational and Psychological Measurement 20, 37; with weights of the
    distance between labels 1968, Psychological Bulletin 70, 213.

    Args:
        table: items by the labels of both raters, in the order of the scale: shape (labels,
            labels).
        weights: how far labels disagree: all alike, by their distance, or by its square.

    Returns:
        Kappa; None where a rater gave all items the same label, so that nothing can be told apart.
    """
    kappa = float(kappa_values(table[np.newaxis], weights)[0])
    return None if np.isnan(kappa) else kappa


def kappa_values(tables: Floats, weights: Weights) -> Floats:
    """Return kappa of several tables; NaN where a rater gave all items the same label.

    Args:
        tables: as in `cohen_kappa`: shape (tables, labels, labels).
        weights: as in `cohen_kappa`.
    """
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    places = np.arange(tables.shape[1], dtype=np.float64)
    steps = np.abs(places[:, np.newaxis] - places)
    distances = {"none": np.sign(steps), "linear": steps, "quadratic": steps**2}[weights]
    observed = (tables * distances).sum(axis=(1, 2)) * rows.sum(axis=1)
    expected = ((rows @ distances) * columns).sum(axis=1)
    n_used = np.minimum(np.count_nonzero(rows, axis=1), np.count_nonzero(columns, axis=1))
    ratios = np.full(len(tables), np.nan)
    np.divide(observed, expected, out=ratios, where=n_used >= _PAIR)
    kappas: Floats = 1 - ratios
    return kappas


def krippendorff_alpha(ratings: LabelCounts, level: Level) -> float | None:
    """Return Krippendorff's alpha of any number of raters, 1 at most; ratings may be missing.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". The distance of ordinal
    labels is that of their mean ranks, so that ordinal alpha, too, follows from sums of squares.

    Args:
        ratings: the ratings; items that have only one do not count.
        level: of measurement: whether labels only differ, have an order, or are numbers.

    Returns:
        Alpha; None where no item has two ratings, or those that have show only one label.
    """
    paired = pairable_ratings(ratings, level)
    margins: Floats = np.bincount(
        paired.labels, weights=paired.counts, minlength=len(paired.scores)
    ).astype(np.float64)
    observed = item_disagreements(paired, level).sum(keepdims=True)
    alpha = float(alpha_values(margins[np.newaxis], observed, paired.scores, level)[0])
    return None if np.isnan(alpha) else alpha


def pairable_ratings(ratings: LabelCounts, level: Level) -> PairableRatings:
    """Return the ratings of items that have two or more, and what the labels count for."""
    is_paired = np.bincount(ratings.items, weights=ratings.counts)[ratings.items] >= _PAIR
    originals, items = np.unique(ratings.items[is_paired], return_inverse=True)
    labels, counts = ratings.labels[is_paired], ratings.counts[is_paired]
    margins = np.bincount(labels, weights=counts, minlength=len(ratings.values))
    scores = np.cumsum(margins) - margins / 2 if level == "ordinal" else ratings.values
    # Sums of squares lose digits far from 0.
    centred = scores - float(margins @ scores) / max(1.0, float(margins.sum()))
    return PairableRatings(items, originals, labels, counts, centred)


def item_disagreements(ratings: PairableRatings, level: Level) -> Floats:
    """Return the sum of distances between all ratings of an item, over their number less one."""
    items, counts = ratings.items, ratings.counts
    n = np.bincount(items, weights=counts)
    if level == "nominal":
        sums = n**2 - np.bincount(items, weights=counts**2)
    else:
        scores = ratings.scores[ratings.labels]
        squares = np.bincount(items, weights=counts * scores**2)
        sums = 2 * (n * squares - np.bincount(items, weights=counts * scores) ** 2)
    disagreements: Floats = sums / (n - 1)
    return disagreements


def alpha_values(margins: Floats, observed: Floats, scores: Floats, level: Level) -> Floats:
    """Return alpha of several samples; NaN where a sample has only one label.

    Args:
        margins: ratings with each label: shape (samples, labels).
        observed: sum of the items' disagreements: shape (samples,).
        scores: of the labels, as in `PairableRatings`.
        level: of measurement.
    """
    n = margins.sum(axis=1)
    if level == "nominal":
        expected = n**2 - (margins**2).sum(axis=1)
    else:
        expected = 2 * (n * (margins @ scores**2) - (margins @ scores) ** 2)
    is_defined = np.count_nonzero(margins, axis=1) >= _PAIR
    ratios = np.full(len(n), np.nan)
    np.divide(observed * (n - 1), expected, out=ratios, where=is_defined)
    alphas: Floats = 1 - ratios
    return alphas
