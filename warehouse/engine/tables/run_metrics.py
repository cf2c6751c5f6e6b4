"""The table `scores.run_metrics`: the figures of each model in each run, by every metric.

Most runs have none: only verdicts of tasks that were asked once. Planning the query would take
longer than the rest of a small sync, and is left out for such runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.engine.tables.runs import in_parts, runs_in
from warehouse.engine.tables.score_tables import delete_runs, replace_runs

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb

    from warehouse.engine.tables.runs import Runs
    from warehouse.engine.views.sql_files import SqlFile

_MEASURED_RUNS = """
CREATE OR REPLACE TEMP TABLE measured_runs AS
    SELECT suite, run_id, is_new FROM rated_runs
    UNION
    SELECT suite, run_id, false FROM rated_by_changed
"""
_RESCORED_RUNS = """
INSERT INTO measured_runs
    SELECT DISTINCT suite, run_id, false
    FROM (
        SELECT suite, run_id FROM scores.scored_runs
        UNION ALL
        SELECT suite, run_id FROM scores.run_metrics
    )
    WHERE list_contains($suites, suite)
"""
_SCORED_RUNS = """
CREATE OR REPLACE TEMP TABLE scored_runs AS
    SELECT DISTINCT runs.suite, runs.run_id, true AS is_new
    FROM {table} AS runs
    SEMI JOIN (FROM scores.run_metrics WHERE NOT is_verdict) AS metrics USING (entry)
"""
_ALL_RUNS = "(SELECT DISTINCT suite, run_id, true AS is_new FROM scores.entries)"


def compute_run_metrics(connection: duckdb.DuckDBPyConnection, file: SqlFile) -> None:
    """Compute all rows, in the caller's transaction.

    Args:
        connection: the warehouse, with all that the figures are made of.
        file: defines the table, which is empty.
    """
    _measure(connection, file, _ALL_RUNS)


def update_run_metrics(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, rescored: Collection[str]
) -> None:
    """Compute the rows of runs that came to something else, in the caller's transaction.

    Those are the runs in the temporary table `rated_runs`, and those that changed runs rate.

    Args:
        connection: the warehouse, with all that the figures are made of.
        file: defines the table.
        rescored: suites of which scores of other runs may have been computed again.
    """
    connection.execute(_MEASURED_RUNS)
    if rescored:
        connection.execute(_RESCORED_RUNS, {"suites": sorted(rescored)})
    _measure(connection, file, "measured_runs")


def scored_runs(connection: duckdb.DuckDBPyConnection, table: str) -> Runs | None:
    """Return the runs in a table that have other scores than verdicts; None if none has.

    They are in the temporary table `scored_runs`, which the next call replaces.

    Args:
        connection: the warehouse.
        table: a temporary table (suite, run_id, entry).
    """
    connection.execute(_SCORED_RUNS.format(table=table))
    return runs_in(connection, "scored_runs")


def _measure(connection: duckdb.DuckDBPyConnection, file: SqlFile, table: str) -> None:
    """Compute the rows of the runs in a table, those of many runs in parts."""
    runs = runs_in(connection, table)
    for part in [] if runs is None else in_parts(connection, runs):
        restriction, parameters = part.restrict()
        scored = f"SELECT true FROM scores.scored_runs {restriction} LIMIT 1"
        if connection.execute(scored, parameters).fetchall():
            replace_runs(connection, file, [part])
        else:
            delete_runs(connection, file, part)
