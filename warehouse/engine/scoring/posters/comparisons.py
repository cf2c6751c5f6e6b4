"""Comparisons of all pairs of a run's models, and the spread of their scores."""

from collections.abc import Sequence
from itertools import combinations
from statistics import pstdev

from warehouse.core.types import Row
from warehouse.engine.scoring.bootstrap import (
    Difference,
    compare_all,
    holm,
    paired_difference,
)

_COMPARED = (
    "mean", "low", "high", "p_value", "significant",
    "paired_low", "paired_high", "paired_p_value", "paired_significant",
)  # fmt: skip
Lists = Sequence[Sequence[float] | None]


def compare_pairs(scores: Sequence[Sequence[float]]) -> list[Row]:
    """Compare all pairs of lists of scores for the same posters.

    Each row has the positions `a` and `b` of its lists, from 1, the benchmark's unpaired comparison
    (see `compare_all`), and a paired comparison, whose p-values are adjusted over all pairs (Holm).
    A single poster has differences, but neither intervals nor p-values.
    """
    unpaired = compare_all({str(place): values for place, values in enumerate(scores)})
    pairs = list(combinations(range(len(scores)), 2))
    paired = [paired_difference(scores[a], scores[b]) for a, b in pairs]
    adjusted = holm([found.p_value if found else None for found in paired])
    return [
        {"a": a + 1, "b": b + 1, **_row(found, matched), "holm_p_value": p_value}
        for (a, b), found, matched, p_value in zip(pairs, unpaired, paired, adjusted, strict=True)
        if found is not None
    ]


def compare_pairs_batch(families: Sequence[Lists | None]) -> list[list[Row] | None]:
    """Apply `compare_pairs` to a column of lists of lists; NULL gives NULL."""
    return [
        None if family is None else compare_pairs([values or [] for values in family])
        for family in families
    ]


def population_std_batch(columns: Lists) -> list[float | None]:
    """Return each list's population standard deviation; 0.0 for fewer than two scores."""
    return [
        None if scores is None else pstdev(scores) if len(scores) > 1 else 0.0 for scores in columns
    ]


def _row(unpaired: Difference, paired: Difference | None) -> Row:
    if paired is None:
        return dict.fromkeys(_COMPARED) | {"mean": unpaired.mean}
    return {
        "mean": unpaired.mean,
        "low": unpaired.interval[0],
        "high": unpaired.interval[1],
        "p_value": unpaired.p_value,
        "significant": unpaired.significant,
        "paired_low": paired.interval[0],
        "paired_high": paired.interval[1],
        "paired_p_value": paired.p_value,
        "paired_significant": paired.significant,
    }
