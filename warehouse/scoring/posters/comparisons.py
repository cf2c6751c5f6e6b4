"""All pairs of a run's models compared at once, and how far their scores spread."""

from collections.abc import Sequence
from itertools import combinations
from statistics import pstdev

from warehouse.scoring.statistics.bootstrap import Difference, compare_all, holm, paired_difference
from warehouse.types import Row

Lists = Sequence[Sequence[float] | None]


def compare_pairs(scores: Sequence[Sequence[float]]) -> list[Row]:
    """Compare every two lists of scores over the same posters.

    Each row has the places `a` and `b` of its lists, from 1, the unpaired comparison of the
    benchmark (see ``compare_all``), and beside it the paired one, with Holm's adjustment of its
    p-values over all pairs.
    """
    unpaired = compare_all({str(place): values for place, values in enumerate(scores)})
    pairs = list(combinations(range(len(scores)), 2))
    paired = [paired_difference(scores[a], scores[b]) for a, b in pairs]
    adjusted = holm([found.p_value if found else None for found in paired])
    return [
        _row(a + 1, b + 1, ours, beside, p_value)
        for (a, b), ours, beside, p_value in zip(pairs, unpaired, paired, adjusted, strict=True)
        if ours is not None and beside is not None
    ]


def compare_pairs_batch(families: Sequence[Lists | None]) -> list[list[Row] | None]:
    """Apply `compare_pairs` to a column of lists of lists; NULL gives NULL."""
    return [
        None if family is None else compare_pairs([values or [] for values in family])
        for family in families
    ]


def population_std_batch(columns: Lists) -> list[float | None]:
    """Give each list's standard deviation as of a population; 0.0 for less than two scores."""
    return [
        None if scores is None else pstdev(scores) if len(scores) > 1 else 0.0 for scores in columns
    ]


def _row(a: int, b: int, ours: Difference, paired: Difference, holm_p_value: float | None) -> Row:
    return {
        "a": a,
        "b": b,
        "mean": ours.mean,
        "low": ours.interval[0],
        "high": ours.interval[1],
        "p_value": ours.p_value,
        "significant": ours.significant,
        "paired_low": paired.interval[0],
        "paired_high": paired.interval[1],
        "paired_p_value": paired.p_value,
        "holm_p_value": holm_p_value,
        "paired_significant": paired.significant,
    }
