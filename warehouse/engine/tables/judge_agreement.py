"""The table `scores.judge_agreement`: how far judges agree with people, gold and each other.

The intervals need resamples, which SQL cannot draw: sync computes the figures of the suites in
which a run with ratings or votes is new, has changed or is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb

    from warehouse.engine.tables.rated_items import Contest
    from warehouse.engine.tables.rater_pairs import Pair

TABLE = "scores.judge_agreement"
_HAS_RATINGS = """
SELECT true FROM (
    (SELECT suite FROM lake.ratings LIMIT 1)
    UNION ALL (SELECT suite FROM lake.preferences LIMIT 1)
    UNION ALL (SELECT suite FROM lake.judgements LIMIT 1)
    UNION ALL (SELECT suite FROM scores.judge_agreement LIMIT 1)
) LIMIT 1
"""
# A run may rate results of another suite.
_CONCERNED = """
CREATE OR REPLACE TEMP TABLE rated_suites AS
    SELECT suite FROM changed_runs
    UNION
    SELECT rated_suite FROM lake.ratings SEMI JOIN changed_runs USING (suite, run_id)
    WHERE rated_suite IS NOT NULL
"""
_MOST_ROWS = 1_000_000
# Exact in any order, like exact_mean, of equal differences counted together.
_MEANS = """
SELECT sample, exact_total(sum(whole * n), sum(CAST(value - whole AS DECIMAL(16, 15)) * n))
    / sum(n) FILTER (whole IS NOT NULL)
FROM (
    SELECT
        unnest($samples) AS sample, unnest($values) AS value,
        CAST(unnest($ns) AS DECIMAL(18, 0)) AS n,
        try_cast(floor(value) AS DECIMAL(15, 0)) AS whole
)
GROUP BY sample
"""
_KEYS = ("suite", "kind", "criterion", "judge", "other", "other_kind")
_WITH_ENDS = ("agreement_rate", "kappa", "quadratic_kappa", "sensitivity", "specificity")
_FIGURES = (
    "mean_difference",
    "linear_kappa",
    *(f"{name}{end}" for name in _WITH_ENDS for end in ("", "_low", "_high")),
)
_COLUMNS = {
    **dict.fromkeys(_KEYS, "VARCHAR"),
    **dict.fromkeys(("n_items", "n_tasks"), "BIGINT"),
    **dict.fromkeys(_FIGURES, "DOUBLE"),
}


def create_judge_agreement(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table, in place of an earlier one."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TABLE {TABLE} ({columns})")


def update_judge_agreement(connection: duckdb.DuckDBPyConnection, *, everything: bool) -> None:
    """Compute the rows, in the caller's transaction; nothing where nobody rates.

    Args:
        connection: the warehouse.
        everything: whether to compute all rows; otherwise those of the suites that the runs in the
            temporary table `changed_runs` concern.
    """
    if not connection.execute(_HAS_RATINGS).fetchall():
        return
    # Imported here: most stores have no ratings, and need no numpy.
    from warehouse.engine.tables.rated_items import read_rated_items
    from warehouse.engine.tables.rater_pairs import agreements, pairs

    restriction = "true"
    if not everything:
        connection.execute(_CONCERNED)
        restriction = "suite IN (FROM rated_suites)"
    connection.execute(f"DELETE FROM {TABLE} WHERE {restriction}")
    for found in _batches(pairs(read_rated_items(connection, restriction))):
        whole = [each for each in found if each[1].judge.version is None]
        rows = agreements(whole)
        for row, mean in zip(rows, _means(connection, whole), strict=True):
            row["mean_difference"] = mean
        _insert(connection, rows)


def _batches(found: Iterable[tuple[Contest, Pair]]) -> Iterator[list[tuple[Contest, Pair]]]:
    """Yield pairs of raters, so many at once that their arrays fit into memory."""
    batch: list[tuple[Contest, Pair]] = []
    for each in found:
        batch.append(each)
        if sum(len(pair.tasks) for _, pair in batch) > _MOST_ROWS:
            yield batch
            batch = []
    yield batch


def _insert(connection: duckdb.DuckDBPyConnection, rows: Sequence[dict[str, object]]) -> None:
    if rows:
        marks = ", ".join("?" for _ in _COLUMNS)
        values = [[row.get(name) for name in _COLUMNS] for row in rows]
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", values)


def _means(
    connection: duckdb.DuckDBPyConnection, found: Sequence[tuple[Contest, Pair]]
) -> list[float | None]:
    """Return the exact mean difference of the numbers of each pair of raters."""
    import numpy as np

    counted = [
        np.unique(pair.differences[~np.isnan(pair.differences)], return_counts=True)
        for _, pair in found
    ]
    columns = {
        "samples": [at for at, (values, _) in enumerate(counted) for _ in values],
        "values": [value for values, _ in counted for value in values.tolist()],
        "ns": [n for _, ns in counted for n in ns.tolist()],
    }
    means = dict(connection.execute(_MEANS, columns).fetchall())
    return [means.get(at) for at in range(len(found))]
