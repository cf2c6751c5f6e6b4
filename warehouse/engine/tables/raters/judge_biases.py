"""Whether judges prefer longer answers, or those of their own family, more than others do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.engine.statistics.bounded_means import equality_of_bounded_means
from warehouse.engine.statistics.shares import share_difference, share_of_votes
from warehouse.engine.tables.raters.rater_pairs import with_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

_KEYS = ("suite", "criterion", "judge", "bias", "other", "n_items")


def judge_biases(
    connection: duckdb.DuckDBPyConnection, restriction: str
) -> Iterator[dict[str, object]]:
    """Yield the rows of `scores.judge_biases`; `restriction` is a condition on the suite."""
    query = f"SELECT {', '.join(_KEYS)}, votes, other_votes FROM scores.bias_votes"
    for *key, votes, others in connection.execute(f"{query} WHERE {restriction}").fetchall():
        row: dict[str, object] = dict(zip(_KEYS, key, strict=True))
        own, tasks = np.array(votes), np.arange(len(votes))
        share = share_of_votes(own)
        row |= {"n_tasks": len(own), **with_ends("share", share.value, share.interval)}
        if row["other"] is not None:
            theirs = np.array(others)
            found = share_difference(own, tasks, theirs, tasks)
            row |= {"other_share": found.other_share}
            row |= with_ends("difference", found.difference, found.interval)
            if found.interval is not None:
                row["p_value"] = equality_of_bounded_means(own - theirs, largest=1.0)
        yield row
