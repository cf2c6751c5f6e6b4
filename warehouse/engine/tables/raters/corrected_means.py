"""The table `scores.corrected_means`: what judges say of runs, corrected by labels of some answers.

Sync computes the rows of the runs that are new, have changed, or have new ratings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.engine.tables.insertion import insert_rows

if TYPE_CHECKING:
    import duckdb

TABLE = "scores.corrected_means"
_COLUMNS = {
    **dict.fromkeys(("suite", "run_id"), "VARCHAR"),
    "entry": "UBIGINT",
    **dict.fromkeys(("scorer", "metric"), "VARCHAR"),
    **dict.fromkeys(("n_tasks", "n_results"), "BIGINT"),
    **dict.fromkeys(("mean", "mean_low", "mean_high", "stderr"), "DOUBLE"),
    "remark": "VARCHAR",
}
_HAS_LABELS = f"""
SELECT true FROM (
    (SELECT suite FROM lake.ratings WHERE rater_kind IN ('human', 'gold') LIMIT 1)
    UNION ALL (SELECT suite FROM {TABLE} LIMIT 1)
    UNION ALL (SELECT suite FROM lake.tags WHERE name = 'gold_probability' LIMIT 1)
) LIMIT 1
"""
# Ratings may be of results of another run, and gold of a declared run comes without one.
_CONCERNED = """
CREATE OR REPLACE TEMP TABLE labelled_runs AS
    SELECT suite, run_id FROM {runs}
    UNION
    SELECT coalesce(rated_suite, suite), coalesce(rated_run_id, run_id)
    FROM lake.ratings SEMI JOIN {runs} USING (suite, run_id)
    UNION
    SELECT suite, run_id FROM lake.tags WHERE name = 'gold_probability'
"""
_RATINGS = """FROM (
    FROM lake.ratings SEMI JOIN labelled_runs AS runs
        ON coalesce(ratings.rated_suite, ratings.suite) = runs.suite
        AND coalesce(ratings.rated_run_id, ratings.run_id) = runs.run_id
) AS ratings"""
_RESULTS = """FROM (
    FROM scores.resolved_results SEMI JOIN labelled_runs USING (suite, run_id)
    WHERE run_id BETWEEN $first AND $last
)"""


def create_corrected_means(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table, in place of an earlier one."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TABLE {TABLE} ({columns})")


def update_corrected_means(connection: duckdb.DuckDBPyConnection, runs: str | None) -> None:
    """Compute the rows, in the caller's transaction; nothing where nobody labelled anything.

    Args:
        connection: the warehouse.
        runs: the runs that have changed, as after FROM (suite, run_id); None for all rows.
    """
    if not connection.execute(_HAS_LABELS).fetchall():
        return
    from warehouse.engine.labelled_tasks import read_labelled
    from warehouse.engine.views.sql_files import shipped_sql

    source, parameters = "scores.labelled_tasks", None
    if runs is None:
        connection.execute(f"DELETE FROM {TABLE}")
    else:
        connection.execute(_CONCERNED.format(runs=runs))
        connection.execute(
            f"DELETE FROM {TABLE} AS t USING labelled_runs AS runs "
            "WHERE t.suite = runs.suite AND t.run_id = runs.run_id"
        )
        bounds = "SELECT min(run_id), max(run_id) FROM labelled_runs"
        [(first, last)] = connection.execute(bounds).fetchall()
        sql = {file.qualified: file.sql for file in shipped_sql()}[source]
        sql = sql.replace("FROM lake.ratings", _RATINGS)
        sql = sql.replace("FROM scores.resolved_results", _RESULTS)
        source, parameters = f"({sql})", {"first": first, "last": last}
    rows = []
    for key, tasks in read_labelled(connection, source, parameters):
        if not tasks.n_labels:
            continue
        found = tasks.corrected()
        ends = found.interval or (None, None)
        figures = (found.mean, *ends, found.standard_error, found.remark)
        rows.append((*key, len(tasks.task_ids), tasks.n_results, *figures))
    insert_rows(connection, TABLE, rows)
