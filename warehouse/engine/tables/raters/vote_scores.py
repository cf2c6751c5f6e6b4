"""The table `scores.vote_scores`: what votes say of models, by Bradley and Terry's model.

A fit reads all votes of a suite, and SQL has none: sync computes the rows of the suites in which
votes, or the models of the answers, have changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.errors import BadInput
from warehouse.engine.tables.insertion import insert_rows
from warehouse.engine.vote_counts import OF_SOURCE, count_votes, vote_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from warehouse.engine.tables.runs import Runs
    from warehouse.engine.vote_counts import VoteSource

TABLE = "scores.vote_scores"
_COLUMNS = {
    **dict.fromkeys(("suite", "criterion", "scorer", "model"), "VARCHAR"),
    "task_sets": "VARCHAR[]",
    **dict.fromkeys(("n_tasks", "n_results"), "BIGINT"),
    **dict.fromkeys(("mean", "mean_low", "mean_high"), "DOUBLE"),
    "remark": "VARCHAR",
}
_CONCERNED = f"""
CREATE OR REPLACE TEMP TABLE voted_suites AS
    WITH changed AS (
        SELECT suite, run_id, is_new FROM changed_runs
        UNION ALL SELECT suite, run_id, false FROM rated_by_changed
        UNION ALL SELECT suite, run_id, is_new FROM {{touched}}
    )

    SELECT coalesce(suite_a, suite) AS suite FROM lake.preferences
    SEMI JOIN changed USING (suite, run_id)
    UNION
    SELECT suite FROM {TABLE} SEMI JOIN (FROM changed WHERE NOT is_new) USING (suite)
"""
_VOTES = """
CREATE OR REPLACE TEMP TABLE rated_votes AS
    SELECT answers_suite, task_set, task_id, criterion, rater, rater_kind, rater_config, model_a,
        model_b, outcome
    FROM preferences WHERE {condition}
"""
_PER_MODEL = """
SELECT
    model, list_sort(list(DISTINCT task_set)), count(DISTINCT concat_ws('/', task_set, task_id)),
    count(*)
FROM (SELECT *, unnest([model_a, model_b]) AS model FROM rated_votes WHERE {condition})
GROUP BY model
"""


def create_vote_scores(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table, in place of an earlier one."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TABLE {TABLE} ({columns})")


def update_vote_scores(
    connection: duckdb.DuckDBPyConnection, touched: Runs | None, *, everything: bool = False
) -> None:
    """Compute the rows, in the caller's transaction; nothing where nobody votes.

    Args:
        connection: the warehouse.
        touched: runs whose results may have other models, besides those in the temporary tables
            `changed_runs` and `rated_by_changed`.
        everything: whether to compute all rows; otherwise those of the suites that these concern.
    """
    condition, among = "true", "lake.preferences"
    if not everything:
        table = "changed_runs" if touched is None else touched.table
        connection.execute(_CONCERNED.format(touched=table))
        condition, among = "{} IN (FROM voted_suites)", "voted_suites"
    if not connection.execute(f"FROM {among} LIMIT 1").fetchall():
        return
    connection.execute(f"DELETE FROM {TABLE} WHERE {condition.format('suite')}")
    connection.execute(_VOTES.format(condition=condition.format("answers_suite")))
    sources = vote_sources(connection, "rated_votes")
    insert_rows(connection, TABLE, [row for each in sources for row in _rows(connection, each)])
    connection.execute("DROP TABLE rated_votes")


def _rows(
    connection: duckdb.DuckDBPyConnection, source: VoteSource
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each model; without a score where the models cannot be compared."""
    from warehouse.engine.statistics.bradley_terry import bradley_terry
    from warehouse.engine.statistics.vote_ranks import score_intervals

    by = source.clusters()
    names, votes = count_votes(connection, source, by, votes="rated_votes")
    key = {"suite": source.suite, "criterion": source.criterion, "rater": source.rater}
    models = connection.execute(_PER_MODEL.format(condition=OF_SOURCE), key).fetchall()
    try:
        scores = bradley_terry(names, votes)
    except BadInput as error:
        for model, *counts in models:
            yield (*key.values(), model, *counts, None, None, None, f"no log score: {error}")
        return
    few = f"; no interval, for lack of enough {by}s" if scores.covariance is None else ""
    remark = (
        f"log score, 0 is the mean of {len(names):,} models: {scores.n_votes:,} votes of "
        f"{source.rater}, a tie is half a win each{few}"
    )
    ends = [interval or (None, None) for interval in score_intervals(scores)]
    figures = dict(zip(names, zip(scores.log_scores.tolist(), ends, strict=True), strict=True))
    for model, *counts in models:
        score, (low, high) = figures[model]
        yield (*key.values(), model, *counts, score, low, high, remark)
