"""Krippendorff's alpha of the people who rate, and of all raters, by criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from warehouse.engine.statistics.agreement import Level, krippendorff_alpha, label_counts
from warehouse.engine.statistics.agreement_intervals import alpha_interval
from warehouse.engine.tables.raters.rated_items import filled
from warehouse.engine.tables.raters.rater_pairs import MOST_LABELS, with_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from warehouse.engine.statistics.arrays import Floats, Indices
    from warehouse.engine.tables.raters.rated_items import RatedItems

_RATINGS = """
SELECT contest, item_n, task, side_rank = 1 AS is_person, value, label_n, scale_low, scale_high
FROM coded
JOIN coded_items USING (item_n)
JOIN said_by USING (rater_n)
LEFT JOIN labels USING (label)
WHERE side_rank < 2
"""
_PAIR = 2


def rater_alphas(
    connection: duckdb.DuckDBPyConnection, rated: RatedItems
) -> Iterator[dict[str, object]]:
    """Yield the rows of `scores.rater_alphas`, after `read_rated_items`; gold is no rater."""
    rows = filled(connection.execute(_RATINGS).fetchnumpy())
    order = np.argsort(rows["contest"], kind="stable")
    contests, starts = np.unique(rows["contest"][order], return_index=True)
    for number, chosen in zip(contests, np.split(order, starts)[1:], strict=True):
        of_contest = {name: column[chosen] for name, column in rows.items()}
        is_number = not np.isnan(of_contest["value"]).any()
        ratings = of_contest["value" if is_number else "label_n"]
        # Numbers and labels, or numbers of several scales, have no distances.
        if np.isnan(ratings).any() or has_several_scales(of_contest):
            continue
        is_person = of_contest["is_person"].astype(bool)
        for raters, among in (("people", is_person), ("all", np.ones_like(is_person))):
            if among.any() and (raters == "people" or not is_person.all()):
                items, tasks = (of_contest[name][among] for name in ("item_n", "task"))
                key = {**rated.numbered[int(number)]._asdict(), "raters": raters}
                for row in _alphas(items, tasks, ratings[among], is_number=bool(is_number)):
                    yield key | row


def has_several_scales(rows: dict[str, np.ndarray]) -> bool:
    """Return whether ratings of known `scale_low` and `scale_high` have different ones."""
    ends = np.stack([rows["scale_low"], rows["scale_high"]])
    # To find all different pairs takes a fifth of the agreement of a million ratings.
    known = ends[:, ~np.isnan(ends).any(axis=0)]
    return bool(known.size) and bool(np.ptp(known, axis=1).any())


def _alphas(
    items: Indices, tasks: Indices, ratings: Floats, *, is_number: bool
) -> Iterator[dict[str, object]]:
    """Yield alpha at each level, of two labels one only; nothing where no item has two ratings."""
    # Numbered without a sort, which takes long for a million ratings.
    is_rated = np.bincount(items) > 0
    numbers = (np.cumsum(is_rated) - 1)[items]
    n_ratings = np.bincount(numbers)
    is_paired = n_ratings >= _PAIR
    if not is_paired.any():
        return
    clusters = np.zeros(len(n_ratings), dtype=np.int64)
    clusters[numbers] = tasks
    counts = label_counts(numbers, ratings)
    levels: tuple[Level, ...] = get_args(Level)
    for level in levels if is_number and len(counts.values) > _PAIR else levels[:1]:
        interval = None
        if len(counts.values) <= MOST_LABELS:
            interval = alpha_interval(counts, level, clusters=clusters)
        yield {
            "level": level,
            "n_items": int(is_paired.sum()),
            "n_ratings": int(n_ratings[is_paired].sum()),
            **with_ends("alpha", krippendorff_alpha(counts, level), interval),
        }
