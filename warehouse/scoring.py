"""Keeps the score tables current: what is computed by Python functions, and calls told twice.

A score is defined by two SQL files: its inputs, a view in schema `scores`, and the score itself,
`-- materialised`, a query over the temporary table `inputs`. A row is computed anew when its
inputs changed, in whichever batch the change came, or when the scorer changed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from warehouse.sqlfiles import code_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.sqlfiles import SqlFile


def update_scores(
    connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile], *, everywhere: bool
) -> None:
    """Compute what is missing of every score, in the caller's transaction.

    Args:
        connection: has the temporary table `touched` of the runs that new batches touch.
        files: the SQL files, in order.
        everywhere: look at all runs, because tasks, models or annotations changed too.
    """
    for file in files:
        if file.is_materialised:
            _update(connection, file, everywhere=everywhere)


def create_score_table(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, files: Sequence[SqlFile]
) -> None:
    """Create the empty table of a score, unless there is one by the same scorer.

    The view of its inputs has to be there.
    """
    scorer = _scorer_hash(file, files)
    key = f"scorer of {file.name}"
    row = connection.execute("SELECT value FROM lake.meta WHERE key = ?", [key]).fetchone()
    if row is not None and row[0] == scorer:
        return
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW inputs AS FROM scores.{file.inputs};"
        f"CREATE OR REPLACE TABLE {file.qualified} AS "
        f"SELECT *, NULL::UBIGINT AS input_hash FROM ({file.sql}) LIMIT 0;"
        "DROP VIEW inputs"
    )
    connection.execute("INSERT OR REPLACE INTO lake.meta VALUES (?, ?)", [key, scorer])


def update_duplicate_calls(connection: duckdb.DuckDBPyConnection) -> None:
    """Find the calls that stand in several runs; all but the first run's are duplicates.

    `scores.duplicate_calls` (grain: result that must not count) holds suite, run_id, content_id
    and the run that counts; only calls of the touched runs are looked at.
    """
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE affected AS
            SELECT DISTINCT call_hash
            FROM (
                SELECT call_hash FROM lake.results SEMI JOIN touched USING (suite, run_id)
                UNION ALL
                SELECT call_hash FROM scores.duplicate_calls
                    SEMI JOIN touched USING (suite, run_id)
                UNION ALL
                SELECT duplicates.call_hash FROM scores.duplicate_calls AS duplicates
                    SEMI JOIN touched ON duplicates.suite = touched.suite
                        AND duplicates.counted_in = touched.run_id
            );
        DELETE FROM scores.duplicate_calls WHERE call_hash IN (FROM affected);
        INSERT INTO scores.duplicate_calls BY NAME
            SELECT suite, run_id, content_id, call_hash,
                min(run_id) OVER (PARTITION BY suite, call_hash) AS counted_in
            FROM lake.results
            WHERE call_hash IN (FROM affected)
            QUALIFY run_id <> counted_in;
        DROP TABLE affected
        """
    )


def create_duplicate_calls(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table of `update_duplicate_calls`."""
    connection.execute(
        "CREATE TABLE scores.duplicate_calls ("
        "suite VARCHAR, run_id VARCHAR, content_id VARCHAR, call_hash UBIGINT, counted_in VARCHAR)"
    )


def _scorer_hash(file: SqlFile, files: Sequence[SqlFile]) -> str:
    """Hash what a score is computed by: its SQL, its inputs' SQL, and all our functions."""
    inputs = next(other for other in files if other.qualified == f"scores.{file.inputs}")
    digest = hashlib.sha256(code_digest().encode())
    for used in (*(other for other in files if other.is_function), inputs, file):
        digest.update(used.sql.encode())
    return digest.hexdigest()


def _update(connection: duckdb.DuckDBPyConnection, file: SqlFile, *, everywhere: bool) -> None:
    """Drop the rows whose inputs are gone or changed, then compute those that are missing.

    An empty table (a new scorer's) has all rows missing, so that it is filled everywhere.
    """
    is_empty = connection.execute(f"SELECT count(*) = 0 FROM {file.qualified}").fetchone() == (
        True,
    )
    in_scope = (
        "true"
        if everywhere or is_empty
        else "(suite, run_id) IN (SELECT (suite, run_id) FROM touched)"
    )
    same = " AND ".join(f"score.{column} = inputs.{column}" for column in file.key)
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE inputs AS
            SELECT source.*, hash(source) AS input_hash
            FROM scores.{file.inputs} AS source WHERE {in_scope};
        DELETE FROM {file.qualified} AS score WHERE {in_scope} AND NOT EXISTS (
            FROM inputs WHERE {same} AND score.input_hash = inputs.input_hash
        );
        DELETE FROM inputs WHERE EXISTS (FROM {file.qualified} AS score WHERE {same});
        INSERT INTO {file.qualified} BY NAME
            SELECT score.*, inputs.input_hash FROM ({file.sql}) AS score JOIN inputs ON {same};
        DROP TABLE inputs
        """
    )
