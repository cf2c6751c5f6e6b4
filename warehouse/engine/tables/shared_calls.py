"""The calls that several runs have: found by their hashes, without reading the history."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.engine.tables.runs import Runs

# The one table of schema `scores` that no SQL file defines.
SHARED_CALLS = "shared_calls"
# What decides which calls of several runs are one.
SHARED_COLUMNS = (
    "suite, run_id, content_id, call_hash, started_at, run_date, provider, model, model_path, "
    "settings"
)
# Of a rebuild: passes over the hashes, as most calls are in one run only.
_REPEATED_HASHES = """
INSERT INTO repeated
    SELECT call_hash FROM lake.results WHERE call_hash % {n_parts} = {part}
    GROUP BY call_hash HAVING count(*) > 1
"""
# Hashes that are counted at once, which bounds the memory that this takes.
_MOST_HASHES = 20_000_000
_ALL_SHARED_CALLS = f"""
DELETE FROM scores.shared_calls;
INSERT INTO scores.shared_calls BY NAME
    SELECT {SHARED_COLUMNS} FROM lake.results
    SEMI JOIN repeated USING (call_hash)
    QUALIFY min(run_id) OVER (PARTITION BY suite, call_hash)
        <> max(run_id) OVER (PARTITION BY suite, call_hash);
DROP TABLE repeated
"""
# Of changed runs; those of `scores.shared_calls` are what a run had before.
_CALLS_OF_RUNS = """
SELECT call_hash, started_at, run_date, model_path FROM {table} {restriction}
"""
_AFFECTED = """
CREATE OR REPLACE TEMP TABLE affected AS
    SELECT DISTINCT
        call_hash,
        CASE WHEN model_path IS NULL THEN started_at END AS started_at,
        CASE WHEN model_path IS NOT NULL THEN run_date END AS run_date
    FROM ({calls})
    WHERE call_hash IS NOT NULL
"""
# With its time or date, the scan skips the parts of a long history where a call cannot be; a scan
# for the hashes only reads all of them.
_CALLS_LIKE_AFFECTED = {
    "started_at": "SEMI JOIN affected USING (call_hash, started_at)",
    "run_date": "SEMI JOIN affected USING (call_hash, run_date)",
    "neither": """
        WHERE call_hash IN (
            SELECT call_hash FROM affected WHERE started_at IS NULL AND run_date IS NULL
        )
    """,
}
_SHARED_CALLS_LIKE = """
INSERT INTO scores.shared_calls BY NAME
    FROM ({calls})
    QUALIFY min(run_id) OVER (PARTITION BY suite, call_hash)
        <> max(run_id) OVER (PARTITION BY suite, call_hash)
"""


def update_shared_calls(connection: duckdb.DuckDBPyConnection, runs: Runs | None) -> bool:
    """Find the calls whose hash is in several runs; only those of changed runs are examined.

    `scores.shared_calls` holds what decides which of them are one call: that also depends on
    model files, which may arrive later, and is therefore left to the refreshed table
    `scores.duplicate_calls`.

    Args:
        connection: the warehouse.
        runs: the changed runs; None if there are none.

    Returns:
        Whether calls of the changed runs are shared with others, or were: if not, nothing has
        changed.
    """
    if runs is None:
        return False
    count = "SELECT approx_count_distinct(run_id) FROM lake.generations"
    [(n_runs,)] = connection.execute(count).fetchall()
    if runs.n_rows > n_runs / 2:
        had_any = _has_rows(connection, f"scores.{SHARED_CALLS}")
        find_all_shared_calls(connection)
        return had_any or _has_rows(connection, f"scores.{SHARED_CALLS}")
    if not _find_affected(connection, runs):
        return False
    n_gone = count_changes(
        connection,
        "DELETE FROM scores.shared_calls WHERE call_hash IN (SELECT call_hash FROM affected)",
    )
    n_new = 0
    if calls := _calls_like_affected(connection):
        n_new = count_changes(connection, _SHARED_CALLS_LIKE.format(calls=calls))
    connection.execute("DROP TABLE affected")
    return bool(n_gone or n_new)


def _find_affected(connection: duckdb.DuckDBPyConnection, runs: Runs) -> int:
    """Fill the temporary table `affected` with what the calls of runs share; return its rows."""
    tables = ["lake.results"] if runs.are_new else ["lake.results", f"scores.{SHARED_CALLS}"]
    restriction, parameters = runs.restrict()
    calls = (_CALLS_OF_RUNS.format(table=table, restriction=restriction) for table in tables)
    affected = _AFFECTED.format(calls=" UNION ALL ".join(calls))
    return count_changes(connection, affected, parameters * len(tables))


def _calls_like_affected(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the query of the calls with the affected hashes; empty if nothing is affected."""
    [counts] = connection.execute(
        """
        SELECT
            count(started_at), count(run_date),
            count(*) FILTER (started_at IS NULL AND run_date IS NULL)
        FROM affected
        """
    ).fetchall()
    found = zip(_CALLS_LIKE_AFFECTED.values(), counts, strict=True)
    calls = f"SELECT {SHARED_COLUMNS} FROM lake.results"
    return " UNION ".join(f"{calls} {chosen}" for chosen, count in found if count)


def find_all_shared_calls(connection: duckdb.DuckDBPyConnection) -> None:
    """Find the calls whose hash is in several runs, of all results that the warehouse has."""
    connection.execute("CREATE OR REPLACE TEMP TABLE repeated (call_hash UBIGINT)")
    [(n_results,)] = connection.execute("SELECT count(*) FROM lake.results").fetchall()
    n_parts = 1 + n_results // _MOST_HASHES
    for part in range(n_parts):
        connection.execute(_REPEATED_HASHES.format(n_parts=n_parts, part=part))
    connection.execute(_ALL_SHARED_CALLS)


def create_shared_calls(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty table of `update_shared_calls`."""
    connection.execute(
        f"CREATE TABLE scores.shared_calls AS SELECT {SHARED_COLUMNS} FROM lake.results LIMIT 0"
    )


def count_changes(
    connection: duckdb.DuckDBPyConnection, change: str, parameters: Sequence[object] = ()
) -> int:
    """Return the number of rows that a statement changes or adds."""
    [(n_rows,)] = connection.execute(change, parameters).fetchall()
    return int(n_rows)


def _has_rows(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    return bool(connection.execute(f"SELECT true FROM {table} LIMIT 1").fetchall())
