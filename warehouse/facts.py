"""What results take from other tables, stored with them, and the table of facts.

Every view would otherwise join results with duplicate calls, replaced results and computed
verdicts again. Sync marks the rows that these concern, and computes the facts again of the runs
with a row that has changed; `scores.setups` holds what model files and headers add.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb

    from warehouse.sql_files import SqlFile

_KEY = "suite, run_id, content_id"
# The rows of `marks` (the key, value) that differ from what the results have.
_MARK = """
UPDATE lake.results SET {column} = marks.value FROM marks
WHERE results.run_id BETWEEN ? AND ?
    AND results.suite = marks.suite AND results.run_id = marks.run_id
    AND results.content_id = marks.content_id
    AND results.{column} IS DISTINCT FROM marks.value
"""


def begin(connection: duckdb.DuckDBPyConnection) -> None:
    """Remember what may change, in the caller's transaction after `loading.load`.

    Leaves the temporary table `touched_runs` (suite, run_id): the runs whose facts are computed
    again; first those with rows in the new batches.
    """
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE touched_runs AS SELECT suite, run_id FROM changed_runs;
        CREATE OR REPLACE TEMP TABLE former_duplicates AS FROM scores.duplicate_calls;
        CREATE OR REPLACE TEMP TABLE former_setups AS
            SELECT suite, run_id, setup, input_hash FROM scores.setups
            ANTI JOIN changed_runs USING (suite, run_id)
        """
    )


def mark_replaced_and_duplicate_results(connection: duckdb.DuckDBPyConnection) -> None:
    """Mark results that another stands in for, or another run counts, after `scores.setups`."""
    connection.execute(
        """
        INSERT INTO touched_runs
            SELECT suite, run_id FROM former_setups
            ANTI JOIN scores.setups USING (suite, run_id, setup, input_hash)
        """
    )
    replaced = """
        SELECT suite, run_id, stands_in_for AS content_id, true AS value
        FROM lake.results SEMI JOIN changed_runs USING (suite, run_id)
        WHERE stands_in_for IS NOT NULL
    """
    _mark(connection, "is_replaced", replaced)
    duplicates = f"""
        WITH former AS (SELECT {_KEY}, counted_in FROM former_duplicates),
        now AS (SELECT {_KEY}, counted_in FROM scores.duplicate_calls)
        SELECT {_KEY}, now.counted_in AS value
        FROM (FROM former EXCEPT FROM now) AS gone LEFT JOIN now USING ({_KEY})
        UNION
        SELECT {_KEY}, counted_in AS value FROM (FROM now EXCEPT FROM former)
        UNION
        SELECT {_KEY}, counted_in AS value FROM now SEMI JOIN changed_runs USING (suite, run_id)
    """
    _mark(connection, "duplicate_of", duplicates)


def mark_verdicts(connection: duckdb.DuckDBPyConnection, *, everywhere: bool) -> None:
    """Mark results with the verdicts that were computed of them.

    Args:
        connection: the warehouse, after the scores that `scores.computed_verdicts` refers to.
        everywhere: whether verdicts of runs other than the changed ones may have changed.
    """
    verdicts = f"SELECT {_KEY}, is_correct AS value FROM scores.computed_verdicts"
    if everywhere:
        verdicts = f"""
            WITH former AS (
                SELECT {_KEY}, computed_verdict FROM lake.results
                WHERE computed_verdict IS NOT NULL
            ),
            now AS ({verdicts} WHERE is_correct IS NOT NULL)
            SELECT {_KEY}, now.value
            FROM former FULL JOIN now USING ({_KEY})
            WHERE former.computed_verdict IS DISTINCT FROM now.value
        """
    else:
        verdicts += " SEMI JOIN changed_runs USING (suite, run_id) WHERE is_correct IS NOT NULL"
    _mark(connection, "computed_verdict", verdicts)


def _mark(connection: duckdb.DuckDBPyConnection, column: str, marks: str) -> None:
    """Set a column of the results that a query names (suite, run_id, content_id, value)."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE marks AS {marks}")
    [bounds] = connection.execute("SELECT min(run_id), max(run_id) FROM marks").fetchall()
    if bounds[0] is not None:
        connection.execute(_MARK.format(column=column), bounds)
        connection.execute("INSERT INTO touched_runs SELECT DISTINCT suite, run_id FROM marks")
    connection.execute("DROP TABLE marks")


def create_table_by_run(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, functions: Iterable[SqlFile]
) -> bool:
    """Create the empty table of a file marked `-- by_run`.

    Return False, and keep the table, if it was filled by the same query.
    """
    text = "\0".join((file.sql, *(function.sql for function in functions)))
    digest = hashlib.sha256(text.encode()).hexdigest()
    key = f"query of {file.name}"
    row = connection.execute("SELECT value FROM lake.meta WHERE key = ?", [key]).fetchone()
    if row is not None and row[0] == digest:
        return False
    connection.execute(
        f"CREATE OR REPLACE TABLE {file.qualified} AS FROM ({file.sql}) LIMIT 0;"
        "INSERT OR REPLACE INTO lake.meta VALUES (?, ?)",
        [key, digest],
    )
    return True


def update_facts(
    connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile], *, emptied: set[str]
) -> None:
    """Compute the rows of the touched runs in the tables by run.

    Args:
        connection: the warehouse, after everything has been marked.
        files: the SQL files, in order.
        emptied: names of tables that lack all rows, because their query has changed.
    """
    [bounds] = connection.execute("SELECT min(run_id), max(run_id) FROM touched_runs").fetchall()
    for file in files:
        if not file.is_by_run:
            continue
        if file.name in emptied:
            connection.execute(f"INSERT INTO {file.qualified} {file.sql}")
        elif bounds[0] is not None:
            _update(connection, file, bounds)
    connection.execute(
        "DROP TABLE touched_runs; DROP TABLE former_duplicates; DROP TABLE former_setups"
    )


def _update(connection: duckdb.DuckDBPyConnection, file: SqlFile, bounds: tuple[str, str]) -> None:
    # DuckDB pushes the bounds down to the scan, so that a sync does not read the history.
    if connection.execute(f"SELECT true FROM {file.qualified} LIMIT 1").fetchall():
        connection.execute(
            f"""
            DELETE FROM {file.qualified} AS facts USING touched_runs AS touched
            WHERE facts.run_id BETWEEN ? AND ?
                AND facts.suite = touched.suite AND facts.run_id = touched.run_id
            """,
            bounds,
        )
    connection.execute(
        f"""
        INSERT INTO {file.qualified}
        SELECT facts.* FROM ({file.sql}) AS facts SEMI JOIN touched_runs USING (suite, run_id)
        WHERE run_id BETWEEN ? AND ?
        """,
        bounds,
    )
