"""Tables of raters: how far judges agree, and with whom, whether they drift, alpha of all raters.

The intervals need resamples, which SQL cannot draw: sync computes the figures of the suites in
which a run with ratings or votes is new, has changed or is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.engine.tables.insertion import insert_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import duckdb

    from warehouse.engine.tables.raters.rated_items import Contest
    from warehouse.engine.tables.raters.rater_pairs import Pair

# Every suite, if anybody rates.
_HAS_RATINGS = """
SELECT true FROM (
    (SELECT suite FROM lake.ratings LIMIT 1)
    UNION ALL (SELECT suite FROM lake.preferences LIMIT 1)
    UNION ALL (SELECT suite FROM lake.judgements LIMIT 1)
    UNION ALL (SELECT suite FROM scores.judge_scorers LIMIT 1)
    UNION ALL (SELECT suite FROM lake.annotations LIMIT 1)
) LIMIT 1
"""
# Suites of changed runs that have ratings or votes, or may have had some that are in figures, and
# those of the results that they are about.
_CONCERNED = """
CREATE OR REPLACE TEMP TABLE rated_suites AS
    SELECT suite FROM (
        SELECT suite, run_id FROM lake.ratings
        UNION ALL SELECT suite, run_id FROM lake.preferences
        UNION ALL SELECT suite, run_id FROM lake.judgements
        UNION ALL (
            SELECT suite, run_id FROM lake.result_scores JOIN suite_traits USING (suite)
            WHERE regexp_full_match(scorer, judge_scorers)
        )
    )
    SEMI JOIN changed_runs USING (suite, run_id)
    UNION
    SELECT suite FROM changed_runs
    SEMI JOIN (
        SELECT suite FROM scores.judge_agreement
        UNION ALL SELECT suite FROM scores.judge_biases
        UNION ALL SELECT suite FROM scores.rater_alphas
    ) USING (suite)
    WHERE NOT is_new
    UNION
    SELECT suite FROM rated_by_changed
    UNION
    SELECT unnest($recorded)
"""
_MOST_ROWS = 1_000_000
# Exact in any order, like exact_mean, of equal differences counted together.
_MEANS = """
SELECT sample, list_sum([
    exact_total(sum(whole * n), sum(CAST(value - whole AS DECIMAL(16, 15)) * n)),
    ordered_sum(list_sort(list(value * n) FILTER (whole IS NULL AND isfinite(value))))
]) / sum(n) FILTER (isfinite(value))
FROM (
    SELECT
        unnest($samples) AS sample, CAST(unnest($values) AS DOUBLE) AS value,
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
_ENDS = ("", "_low", "_high")
TABLES = {
    "judge_agreement": {
        **dict.fromkeys(_KEYS, "VARCHAR"),
        **dict.fromkeys(("n_items", "n_tasks"), "BIGINT"),
        "newest_label_at": "TIMESTAMP",
        **dict.fromkeys(_FIGURES, "DOUBLE"),
    },
    "judge_drift": {
        **dict.fromkeys((*_KEYS, "split", "before", "after"), "VARCHAR"),
        **dict.fromkeys(("n_before", "n_after"), "BIGINT"),
        **dict.fromkeys(("kappa_before", "kappa_after", "p_value"), "DOUBLE"),
        **{f"difference{end}": "DOUBLE" for end in _ENDS},
    },
    "judge_biases": {
        **dict.fromkeys(("suite", "criterion", "judge", "bias", "other"), "VARCHAR"),
        **dict.fromkeys(("n_items", "n_tasks"), "BIGINT"),
        **{f"{name}{end}": "DOUBLE" for name in ("share", "difference") for end in _ENDS},
        **dict.fromkeys(("other_share", "p_value"), "DOUBLE"),
    },
    "rater_alphas": {
        **dict.fromkeys((*_KEYS[:3], "raters", "level"), "VARCHAR"),
        **dict.fromkeys(("n_items", "n_ratings"), "BIGINT"),
        **{f"alpha{end}": "DOUBLE" for end in _ENDS},
    },
}


def create_judge_agreement(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty tables, in place of earlier ones."""
    for table, types in TABLES.items():
        columns = ", ".join(f"{name} {type_}" for name, type_ in types.items())
        connection.execute(f"CREATE OR REPLACE TABLE scores.{table} ({columns})")


def update_judge_agreement(
    connection: duckdb.DuckDBPyConnection,
    *,
    everything: bool = False,
    recorded: Collection[str] = (),
) -> None:
    """Compute the rows, in the caller's transaction; nothing where nobody rates.

    Args:
        connection: the warehouse.
        everything: whether to compute all rows; otherwise those of the suites that the runs in the
            temporary table `changed_runs` concern.
        recorded: more such suites: those with new records of people or gold, which are of no run.
    """
    restriction = "true" if everything else "suite IN (FROM rated_suites)"
    if everything:
        has_ratings = connection.execute(_HAS_RATINGS).fetchall()
    else:
        connection.execute(_CONCERNED, {"recorded": sorted(recorded)})
        has_ratings = connection.execute("FROM rated_suites LIMIT 1").fetchall()
    if not has_ratings:
        return
    # Imported here: most stores have no ratings, and need no numpy.
    from warehouse.engine.tables.raters.judge_biases import judge_biases
    from warehouse.engine.tables.raters.judge_drift import drifts
    from warehouse.engine.tables.raters.rated_items import read_rated_items
    from warehouse.engine.tables.raters.rater_alphas import rater_alphas
    from warehouse.engine.tables.raters.rater_pairs import agreements, pairs

    for table in TABLES:
        connection.execute(f"DELETE FROM scores.{table} WHERE {restriction}")
    rated = read_rated_items(connection, restriction)
    _insert(connection, "judge_biases", list(judge_biases(connection, restriction)))
    _insert(connection, "rater_alphas", list(rater_alphas(connection, rated)))
    for found in _batches(pairs(rated)):
        whole = [each for each in found if each[1].judge.version is None]
        rows = agreements(whole)
        for row, mean in zip(rows, _means(connection, whole), strict=True):
            row["mean_difference"] = mean
        _insert(connection, "judge_agreement", rows)
        _insert(connection, "judge_drift", list(drifts(found)))


def _batches(found: Iterable[tuple[Contest, Pair]]) -> Iterator[list[tuple[Contest, Pair]]]:
    """Yield the pairs of some contests, or of a part of one, whose arrays fit into memory.

    The configurations of judges, which are compared with each other, are in one batch.
    """
    batch: list[tuple[Contest, Pair]] = []
    for each in found:
        n_rows = sum(len(pair.tasks) for _, pair in batch)
        if n_rows > _MOST_ROWS and each[1].judge.version is None:
            yield batch
            batch = []
        batch.append(each)
    yield batch


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[dict[str, object]]
) -> None:
    values = [[row.get(name) for name in TABLES[table]] for row in rows]
    insert_rows(connection, f"scores.{table}", values)


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
