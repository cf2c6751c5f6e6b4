"""The score tables: values that Python functions compute, and duplicate calls.

Two SQL files define a score: its inputs, a view in schema `scores`, and the score itself, marked
`-- materialised`: a query over the temporary table `inputs` for the runs of one suite. A row is
recomputed when its inputs or the scorer have changed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from warehouse.sql_files import code_digest

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    import duckdb

    from warehouse.sql_files import SqlFile


# The one table of schema `scores` that no SQL file defines.
_DUPLICATE_CALLS = "duplicate_calls"


def update_scores(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[SqlFile],
    *,
    recompute_all: Container[str],
) -> None:
    """Compute the missing rows of every score in the caller's transaction.

    Args:
        connection: has the temporary table `changed_runs` of `loading.load`.
        files: the SQL files, in order.
        recompute_all: names of scores that may lack rows of any run, because their scorer changed
            or new tasks, models or annotations are among their inputs.
    """
    rows = connection.execute(
        "SELECT suite, min(run_id), max(run_id) FROM changed_runs GROUP BY suite"
    ).fetchall()
    changed_runs = {suite: (first, last) for suite, first, last in rows}
    for file in files:
        if not file.is_materialised:
            continue
        if file.name in recompute_all:
            _update(connection, file, None)
        elif file.suite in changed_runs:
            _update(connection, file, changed_runs[file.suite])


def create_score_table(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, files: Sequence[SqlFile]
) -> bool:
    """Create the empty table of a score, whose input view must exist.

    Return False, and keep the table, if it was filled by the same scorer.
    """
    scorer = _scorer_hash(file, files)
    key = _scorer_key(file.name)
    row = connection.execute("SELECT value FROM lake.meta WHERE key = ?", [key]).fetchone()
    if row is not None and row[0] == scorer:
        return False
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW inputs AS FROM scores.{file.inputs};"
        f"CREATE OR REPLACE TABLE {file.qualified} AS "
        f"SELECT *, NULL::UBIGINT AS input_hash FROM ({file.sql}) LIMIT 0;"
        "DROP VIEW inputs"
    )
    connection.execute("INSERT OR REPLACE INTO lake.meta VALUES (?, ?)", [key, scorer])
    return True


def drop_former_scores(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> None:
    """Drop the tables of scores that no file defines any more."""
    defined = {file.name for file in files if file.is_materialised} | {_DUPLICATE_CALLS}
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'scores'"
    ).fetchall()
    for (name,) in rows:
        if name not in defined:
            connection.execute(f"DROP TABLE scores.{name}")
            connection.execute("DELETE FROM lake.meta WHERE key = ?", [_scorer_key(name)])


def update_duplicate_calls(connection: duckdb.DuckDBPyConnection) -> None:
    """Find the calls that are in several runs; all but the first run's are duplicates.

    `scores.duplicate_calls` (grain: a result that does not count) holds suite, run_id, content_id
    and the run that counts; only calls of changed runs are examined.
    """
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE seen_before AS
            SELECT call_hash FROM scores.duplicate_calls
            SEMI JOIN changed_runs USING (suite, run_id)
            UNION
            SELECT call_hash FROM scores.duplicate_calls AS duplicates
                SEMI JOIN changed_runs ON duplicates.suite = changed_runs.suite
                    AND duplicates.counted_in = changed_runs.run_id;
        -- With their times, the scan skips the parts of a long history where these calls cannot
        -- be; a scan for the hashes only would read all of it.
        CREATE OR REPLACE TEMP TABLE affected AS
            SELECT call_hash, started_at FROM lake.results
                SEMI JOIN changed_runs USING (suite, run_id) WHERE call_hash IS NOT NULL
            UNION
            SELECT call_hash, started_at FROM lake.results SEMI JOIN seen_before USING (call_hash);
        DELETE FROM scores.duplicate_calls WHERE call_hash IN (
            SELECT call_hash FROM affected UNION ALL FROM seen_before
        );
        INSERT INTO scores.duplicate_calls BY NAME
            WITH calls AS (
                SELECT suite, run_id, content_id, call_hash FROM lake.results
                    SEMI JOIN affected USING (call_hash, started_at)
                UNION ALL
                SELECT suite, run_id, content_id, call_hash FROM lake.results
                WHERE started_at IS NULL
                    AND call_hash IN (SELECT call_hash FROM affected WHERE started_at IS NULL)
            )
            SELECT *, min(run_id) OVER (PARTITION BY suite, call_hash) AS counted_in
            FROM calls
            QUALIFY run_id <> counted_in;
        DROP TABLE affected;
        DROP TABLE seen_before
        """
    )


def create_duplicate_calls(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table of `update_duplicate_calls`."""
    connection.execute(
        "CREATE TABLE scores.duplicate_calls ("
        "suite VARCHAR, run_id VARCHAR, content_id VARCHAR, call_hash UBIGINT, counted_in VARCHAR)"
    )


def _scorer_key(name: str) -> str:
    """Return the key in `lake.meta` of the hash of a score's scorer."""
    return f"scorer of {name}"


def _scorer_hash(file: SqlFile, files: Sequence[SqlFile]) -> str:
    """Return a hash of a score's SQL, its inputs' SQL and all scoring functions."""
    inputs = next(other for other in files if other.qualified == f"scores.{file.inputs}")
    digest = hashlib.sha256(code_digest().encode())
    for used in (*(other for other in files if other.is_function), inputs, file):
        digest.update(used.sql.encode())
    return digest.hexdigest()


def _update(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, run_range: tuple[str, str] | None
) -> None:
    """Drop the rows whose inputs are gone or changed, then compute the missing rows.

    Args:
        connection: has the temporary table `changed_runs`.
        file: the score.
        run_range: the first and last id of the changed runs; None for all runs.
    """
    in_scope = "" if run_range is None else "SEMI JOIN changed_runs USING (suite, run_id)"
    # DuckDB pushes these bounds down to the scan; it does not push the join with the runs.
    within = "" if run_range is None else "WHERE run_id BETWEEN ? AND ?"
    same = " AND ".join(f"score.{column} = inputs.{column}" for column in file.key)
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE inputs AS
            SELECT source.*, hash(source) AS input_hash
            FROM scores.{file.inputs} AS source {in_scope} {within}
        """,
        run_range,
    )
    connection.execute(
        f"""
        DELETE FROM {file.qualified} WHERE rowid IN (
            SELECT score.rowid FROM {file.qualified} AS score {in_scope}
            ANTI JOIN inputs ON {same} AND score.input_hash = inputs.input_hash
        );
        DELETE FROM inputs WHERE EXISTS (FROM {file.qualified} AS score WHERE {same});
        INSERT INTO {file.qualified} BY NAME
            SELECT score.*, inputs.input_hash FROM ({file.sql}) AS score JOIN inputs ON {same};
        DROP TABLE inputs
        """
    )
