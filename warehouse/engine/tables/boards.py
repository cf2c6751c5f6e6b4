"""The tables of boards: which tasks count, what each run came to on them, each model's run.

They depend on several runs, so that sync computes them after the facts. What a run came to is
computed for the new runs, and for those with a task of which something else has changed: whether
anything judges it, or whether it is in the version of its task set. Drift and
changes since the run before are computed for series with such a run, or with another run than
before. The other tables are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.engine.tables.pair_tests import update_pair_tests
from warehouse.engine.tables.raters.corrected_means import update_corrected_means
from warehouse.engine.tables.raters.judge_agreement import update_judge_agreement
from warehouse.engine.tables.raters.vote_scores import update_vote_scores
from warehouse.engine.tables.run_metrics import (
    compute_run_metrics,
    scored_runs,
    update_run_metrics,
)
from warehouse.engine.tables.runs import in_parts, runs_in
from warehouse.engine.tables.score_tables import replace_runs, restricted_query
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    import duckdb

    from warehouse.engine.tables.runs import Runs
    from warehouse.engine.views.sql_files import SqlFile

# A task is judged, or answered, if it is in any run.
_MERGED = """
SELECT task, is_replay, suite, task_set, task_id,
    is_judged OR coalesce(was_judged, false) AS is_judged,
    is_answered OR coalesce(was_answered, false) AS is_answered
FROM asked
LEFT JOIN (
    SELECT task, is_replay, is_judged AS was_judged, is_answered AS was_answered
    FROM scores.asked_tasks
) USING (task, is_replay)
UNION ALL
FROM scores.asked_tasks ANTI JOIN asked USING (task, is_replay)
"""
# The runs that a change of each table concerns, from its rows that differ.
_CONCERNED = {
    "completions": "SELECT suite, run_id FROM differing",
    "judged_tasks": "SELECT suite, run_id FROM scores.task_facts SEMI JOIN differing USING (task)",
    "newest_tasks": (
        "SELECT suite, run_id FROM scores.asked_sets SEMI JOIN differing USING (suite, task_set)"
    ),
}
_CONCERNED |= dict.fromkeys(("unchecked_tasks", "task_clusters"), _CONCERNED["judged_tasks"])
# What else the differing rows of a table are kept for: models with another run on a board than
# before, and series (series, task_set) with another run than before, or one at another time.
_NOTED = {
    "board_runs": (
        "CREATE OR REPLACE TEMP TABLE changed_models AS "
        "SELECT suite, task_set, series FROM differing"
    ),
    "series_runs": "CREATE OR REPLACE TEMP TABLE changed_series AS FROM differing",
}
# Models whose run on a board was computed again or is rated by a changed run, and those of suites
# with scores that may have been computed again.
_OTHER_MODELS = """
INSERT INTO changed_models
    SELECT suite, task_set, series FROM scores.board_runs
    WHERE (suite, run_id) IN (FROM rated_runs SELECT suite, run_id)
        OR (suite, run_id) IN (FROM rated_by_changed SELECT suite, run_id)
        OR list_contains($rescored, suite)
"""
# The tables of series.
_BY_SERIES = ("drift_breaks", "run_changes")
# `measured_runs` are those whose other scores may have changed.
_WITH_RATED_RUNS = """
INSERT INTO changed_series
    FROM scores.series_runs
    SEMI JOIN (SELECT suite, run_id FROM rated_runs UNION SELECT suite, run_id FROM measured_runs)
        USING (suite, run_id)
"""
_DROP_SERIES = """
DELETE FROM {table} AS rows USING changed_series AS changed WHERE rows.subject = changed.subject
"""
# Those with several runs, in parts with a bounded number of results, which bounds the memory.
_MOST_RESULTS = 4_000_000
_SERIES_PARTS = """
CREATE OR REPLACE TEMP TABLE series_parts AS
    SELECT
        subject,
        CAST(sum(sum(n_results)) OVER (ORDER BY subject) - sum(n_results) AS BIGINT)
            // {most} AS part
    FROM (SELECT DISTINCT subject, run_id, entry FROM scores.series_runs) AS runs
    SEMI JOIN changed_series USING (subject)
    JOIN scores.entry_calls AS calls USING (run_id, entry)
    GROUP BY subject
    HAVING count(DISTINCT run_id) > 1
"""
_RUNS_OF_PART = """
CREATE OR REPLACE TEMP TABLE runs_of_part AS
    FROM scores.series_runs
    SEMI JOIN (FROM series_parts WHERE part = {part}) AS chosen USING (subject)
"""
# What `scores.run_changes` reads of `scores.score_changes`, and what that reads.
_SCORE_CHANGES = """
CREATE OR REPLACE TEMP TABLE changes_of_part (
    entry UBIGINT, task UBIGINT, scorer VARCHAR, metric VARCHAR, filter VARCHAR,
    score DOUBLE, previous_score DOUBLE, change VARCHAR
)
"""
_INSERT_CHANGES = """
INSERT INTO changes_of_part
    SELECT entry, task, scorer, metric, filter, score, previous_score, change FROM ({query})
"""
_READ_BY_CHANGES = ("scores.recorded_attempts", "scores.task_rates", "scores.task_facts")


def compute_boards(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> None:
    """Compute all rows, in the caller's transaction.

    Args:
        connection: the warehouse.
        files: the SQL files of these tables, in order.
    """
    for file in files:
        if file.name == "board_pairs":
            connection.execute("DELETE FROM scores.board_pairs")  # filled with the tests
            continue
        connection.execute(f"DELETE FROM {file.qualified}")
        if file.name == "run_metrics":
            compute_run_metrics(connection, file)
        elif file.name not in _BY_SERIES:
            connection.execute(f"INSERT INTO {file.qualified} {file.sql}")
    connection.execute("CREATE OR REPLACE TEMP TABLE changed_series AS FROM scores.series_runs")
    _compute_series(connection, files)
    update_pair_tests(connection, "scores.board_runs")
    update_judge_agreement(connection, everything=True)
    update_corrected_means(connection, None)
    update_vote_scores(connection, None, everything=True)


def update_boards(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[SqlFile],
    runs: Runs | None,
    rescored: AbstractSet[str],
    rejudged: AbstractSet[str],
) -> None:
    """Compute the rows that have changed, in the caller's transaction.

    The temporary table `rated_runs` (suite, run_id, is_new) is left behind: the runs that came to
    something else.

    Args:
        connection: the warehouse, with the facts of the runs.
        files: the SQL files of these tables, in order.
        runs: the runs whose facts were computed again; None if there are none.
        rescored: suites of which scores of other runs may have been, as when ground truth comes
            after the answers.
        rejudged: suites of which verdicts of other runs may have been, as when prompt files do.
    """
    rated = "SELECT suite, run_id, is_new FROM " + (
        "changed_runs LIMIT 0" if runs is None else runs.table
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE rated_runs AS {rated}")
    for file in files:
        if file.name == "run_metrics":
            update_run_metrics(connection, file, rescored | rejudged)
            continue
        if file.is_by_run:
            _rate(connection, file)
            continue
        if file.name == "board_pairs" or file.name in _BY_SERIES:
            continue
        query = file.sql
        if file.name == "asked_tasks" and runs is not None and runs.are_new:
            query = _merged(connection, file, runs)
        is_changed = _replace(connection, file, query)
        if file.name in _NOTED:
            connection.execute(_NOTED[file.name])
        if is_changed and file.name in _CONCERNED:
            connection.execute(
                f"INSERT INTO rated_runs SELECT DISTINCT *, false FROM ({_CONCERNED[file.name]})"
            )
    connection.execute(_WITH_RATED_RUNS)
    _compute_series(connection, files)
    connection.execute(_OTHER_MODELS, {"rescored": sorted(rescored)})
    update_pair_tests(connection, "changed_models")


def _merged(connection: duckdb.DuckDBPyConnection, file: SqlFile, runs: Runs) -> str:
    """Return the query of `asked_tasks` that reads the facts of new runs only."""
    restriction, parameters = runs.restrict()
    facts = f"(FROM scores.task_facts {restriction})"
    asked = file.sql.replace("scores.task_facts", facts)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE asked AS {asked}", parameters)
    return _MERGED


def _replace(connection: duckdb.DuckDBPyConnection, file: SqlFile, query: str) -> bool:
    """Write the rows of a query, if they differ; `differing` has those that do."""
    table = file.qualified
    connection.execute(f"CREATE OR REPLACE TEMP TABLE fresh AS {query}")
    [(n_rows,)] = connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE differing AS
            (FROM fresh EXCEPT FROM {table}) UNION ALL (FROM {table} EXCEPT FROM fresh)
        """
    ).fetchall()
    if n_rows:
        connection.execute(f"DELETE FROM {table}; INSERT INTO {table} FROM fresh")
    return bool(n_rows)


def _rate(connection: duckdb.DuckDBPyConnection, file: SqlFile) -> None:
    """Compute what the runs in `rated_runs` came to, and those that they complete."""
    connection.execute(
        """
        INSERT INTO rated_runs
            SELECT completions.suite, completions.run_id, false
            FROM scores.completions AS completions
            JOIN rated_runs
                ON completions.suite = rated_runs.suite
                AND completions.other_run_id = rated_runs.run_id;
        CREATE OR REPLACE TEMP TABLE rated_runs AS
            SELECT suite, run_id, bool_and(is_new) AS is_new FROM rated_runs GROUP BY suite, run_id
        """
    )
    runs = runs_in(connection, "rated_runs")
    if runs is not None:
        replace_runs(connection, file, in_parts(connection, runs))


def _compute_series(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> None:
    """Compute the rows of the series in the temporary table `changed_series`."""
    views = {file.name: file.sql for file in shipped_sql()}
    by_series = [file for file in files if file.name in _BY_SERIES]
    for file in by_series:
        connection.execute(_DROP_SERIES.format(table=file.qualified))
    connection.execute(_SERIES_PARTS.format(most=_MOST_RESULTS))
    parts = connection.execute("SELECT DISTINCT part FROM series_parts ORDER BY part").fetchall()
    for (part,) in parts:
        connection.execute(_RUNS_OF_PART.format(part=part))
        _compute_score_changes(connection, views["score_changes"])
        for file in by_series:
            # A view that is written out reads these runs only.
            query = file.sql.replace("scores.task_changes", f"({views['task_changes']})")
            query = query.replace("scores.score_changes", "changes_of_part")
            query = query.replace("scores.series_runs", "runs_of_part")
            connection.execute(f"INSERT INTO {file.qualified} {query}")


def _compute_score_changes(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Compute `scores.score_changes` of the runs of a part, if these have any scores.

    Planning the query would take longer than the rest of a small sync.
    """
    connection.execute(_SCORE_CHANGES)
    runs = scored_runs(connection, "runs_of_part")
    if runs is not None:
        query, parameters = restricted_query(sql, _READ_BY_CHANGES, runs)
        connection.execute(_INSERT_CHANGES.format(query=query), parameters)
