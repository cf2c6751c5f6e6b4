"""The tables of schema `scores`: values that Python functions compute, and what many views join.

Two SQL files define a score: its inputs, a view in schema `scores`, and the score itself, marked
`-- materialised`: a query over the temporary table `inputs` for the runs of one suite. A row is
recomputed when its inputs or the scorer have changed.

A file marked `-- refreshed` defines a small table that many views join. It could be a view, but
planning it in each place that names it would take longer than the rest of most queries.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.engine.tables.raters.judge_agreement import TABLES
from warehouse.engine.tables.shared_calls import SHARED_CALLS, count_changes
from warehouse.engine.views.sql_files import code_digest, shipped_sql

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Sequence

    import duckdb

    from warehouse.engine.tables.runs import Runs
    from warehouse.engine.views.sql_files import SqlFile


# The refreshed table that is made of `scores.shared_calls`.
DUPLICATE_CALLS = "duplicate_calls"
# Stand for all suites of users' own, and for every suite, in the header of a score.
_OWN = "own"
_EVERY = "every"
# Families of the tables that have rows of every suite; another is that of the only suite.
_FAMILIES_OF_ALL = ("facts", "shared")
# End of the names of the scores that are verdicts.
_VERDICTS = "_verdicts"


def in_stages(files: Sequence[SqlFile]) -> tuple[list[SqlFile], list[SqlFile], list[SqlFile]]:
    """Return the scores among SQL files in the order in which they need each other.

    Returns:
        `scores.setups`; those that `scores.computed_verdicts` refers to; those that may depend on
        facts.
    """
    scores = [file for file in files if file.is_materialised]
    setups = [file for file in scores if file.suite == _EVERY]
    verdicts = [file for file in scores if file.name.endswith(_VERDICTS) and file not in setups]
    return setups, verdicts, [file for file in scores if file not in (*setups, *verdicts)]


@dataclass(frozen=True, slots=True)
class Scope:
    """What is scored.

    Attributes:
        suites: the suites of the changed runs, and if a score is computed for other runs, those
            with runs or annotations: only these are scored. Planning the queries of a suite without
            any would take most of a small sync.
        own: the suites of users' own.
        runs: the changed runs; None if there are none.
        recompute_all: names of scores that may lack rows of any run, because their scorer changed
            or new tasks, models or annotations are among their inputs.
    """

    suites: set[str | None]
    own: set[str | None]
    runs: Runs | None
    recompute_all: Collection[str]


def scope(
    connection: duckdb.DuckDBPyConnection, runs: Runs | None, *, recompute_all: Collection[str]
) -> Scope:
    """Return what is scored after `loading.load`.

    Args:
        connection: the warehouse.
        runs: the changed runs; None if there are none.
        recompute_all: see `Scope`.
    """
    suites = "SELECT suite FROM lake.generations UNION SELECT suite FROM lake.annotations"
    of_runs: set[str | None] = set() if runs is None else set(runs.ranges)
    return Scope(
        # Of a suite whose only run is gone, the scores have to go, too.
        of_runs | _names(connection, suites) if recompute_all else of_runs,
        _names(connection, "SELECT suite FROM lake.tasks WHERE scorer IS NOT NULL"),
        runs,
        recompute_all,
    )


def update_scores(
    connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile], scope: Scope
) -> bool:
    """Compute the missing rows of every score in the caller's transaction.

    Args:
        connection: the warehouse.
        files: the SQL files, in order.
        scope: what is scored.

    Returns:
        Whether a score may have rows of the changed runs.
    """
    may_have = False
    for file in files:
        own = scope.own if file.suite == _OWN else {file.suite}
        covered = scope.suites if file.suite == _EVERY else own
        if not file.is_materialised or scope.suites.isdisjoint(covered):
            continue
        if file.name in scope.recompute_all:
            _update(connection, file, None)
            may_have = True
        elif scope.runs is not None and (suites := covered & scope.runs.ranges.keys()):
            has_rows = _update(connection, file, scope.runs, {str(suite) for suite in suites})
            may_have = may_have or has_rows
    return may_have


def _names(connection: duckdb.DuckDBPyConnection, query: str) -> set[str | None]:
    return {name for (name,) in connection.execute(query).fetchall()}


def create_table(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, files: Sequence[SqlFile]
) -> bool:
    """Create the empty table of a file that sync fills; an input view must exist.

    Return False, and keep the table, if it was filled by the same SQL and scoring functions; small
    tables, which are computed as a whole, are always emptied.
    """
    inputs = f"scores.{file.inputs}"
    if not (file.is_refreshed or file.is_board):
        key, digest = _digest_key(file.name), hashlib.sha256(code_digest().encode())
        for used in files:
            if used.is_function or used.qualified == inputs or used.qualified in file.sql:
                digest.update(used.sql.encode())
        digest.update(file.sql.encode())
        row = connection.execute("SELECT value FROM lake.meta WHERE key = ?", [key]).fetchone()
        if row is not None and row[0] == digest.hexdigest():
            return False
        made_of = [key, digest.hexdigest()]
        connection.execute("INSERT OR REPLACE INTO lake.meta VALUES (?, ?)", made_of)
    columns = "*"
    if file.is_materialised:
        columns = "*, NULL::UBIGINT AS input_hash"
        connection.execute(f"CREATE OR REPLACE TEMP VIEW inputs AS FROM {inputs}")
    connection.execute(
        f"CREATE OR REPLACE TABLE {file.qualified} AS SELECT {columns} FROM ({file.sql}) LIMIT 0;"
        "DROP VIEW IF EXISTS temp.inputs"
    )
    return True


def refresh(
    connection: duckdb.DuckDBPyConnection,
    files: Iterable[SqlFile],
    runs: Runs | None,
    *,
    recompute: Container[str],
) -> None:
    """Compute the rows of the refreshed tables among the files, in the caller's transaction.

    Args:
        connection: the warehouse, after `update_shared_calls`.
        files: the SQL files, in order.
        runs: the changed runs; None if there are none.
        recompute: names of the tables to compute from scratch. Of the others, those by run get the
            rows of the changed runs.
    """
    for file in files:
        if not file.is_refreshed:
            continue
        if file.name in recompute:
            # Not a new table: comments and the views' dependencies belong to this one.
            connection.execute(
                f"DELETE FROM {file.qualified}; INSERT INTO {file.qualified} {file.sql}"
            )
        elif file.is_by_run and runs is not None:
            replace_runs(connection, file, [runs])


def replace_runs(
    connection: duckdb.DuckDBPyConnection, file: SqlFile, parts: Iterable[Runs]
) -> None:
    """Compute the rows of some runs in a table by run, if it may have any of their suites.

    Args:
        connection: the warehouse, in a transaction.
        file: defines the table; each row depends on one run.
        parts: the runs, in parts that are computed one after the other.
    """
    for runs in parts:
        if file.family not in (*_FAMILIES_OF_ALL, *runs.ranges):
            continue
        delete_runs(connection, file, runs)
        query, parameters = restricted_query(file.sql, file.restricted, runs)
        restriction, of_rows = runs.restrict()
        connection.execute(
            f"INSERT INTO {file.qualified} SELECT facts.* FROM ({query}) AS facts {restriction}",
            parameters + of_rows,
        )


def restricted_query(sql: str, relations: Iterable[str], runs: Runs) -> tuple[str, list[str]]:
    """Return a query with what it reads restricted to some runs, and its parameters.

    Args:
        sql: the query.
        relations: tables (suite, run_id), and views, which may read some that come later.
        runs: the runs.
    """
    restriction, parameters = runs.restrict()
    for relation in relations:
        read = f"FROM (FROM {_written_out(relation)} {restriction})"
        sql = sql.replace(f"FROM {relation}", read)
    return sql, parameters * sql.count(restriction)


def _written_out(relation: str) -> str:
    """Return the query of a view, which may read relations to restrict, or the name of a table."""
    views = (file for file in shipped_sql() if file.qualified == relation and not file.is_table)
    return next((f"({view.sql})" for view in views), relation)


def delete_runs(connection: duckdb.DuckDBPyConnection, file: SqlFile, runs: Runs) -> None:
    """Drop the rows of runs from a table by run; there are none of new runs."""
    if runs.are_new:
        return
    bounds = runs.bounds()
    held = f"SELECT true FROM {file.qualified} WHERE run_id BETWEEN ? AND ? LIMIT 1"
    if connection.execute(held, bounds).fetchall():
        connection.execute(
            f"""
            DELETE FROM {file.qualified} AS facts USING {runs.table} AS touched
            WHERE facts.run_id BETWEEN ? AND ?
                AND facts.suite = touched.suite AND facts.run_id = touched.run_id
            """,
            bounds,
        )


def drop_former_scores(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> None:
    """Drop the tables of scores that no file defines any more."""
    defined = {file.name for file in files if file.is_table} | {SHARED_CALLS, "pair_tests"}
    defined |= TABLES.keys() | {"corrected_means", "vote_scores"}
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'scores'"
    ).fetchall()
    for (name,) in rows:
        if name not in defined:
            connection.execute(f"DROP TABLE scores.{name}")
            connection.execute("DELETE FROM lake.meta WHERE key = ?", [_digest_key(name)])


def _digest_key(name: str) -> str:
    """Return the key in `lake.meta` of the hash of what a table is made of."""
    return f"made of {name}"


def _update(
    connection: duckdb.DuckDBPyConnection,
    file: SqlFile,
    runs: Runs | None,
    suites: Collection[str] | None = None,
) -> bool:
    """Drop the rows whose inputs are gone or changed, then compute the missing rows.

    Args:
        connection: the warehouse.
        file: the score.
        runs: the changed runs; None for all runs.
        suites: the suites among theirs that it covers; None for all.

    Returns:
        Whether it may have rows of the runs.
    """
    restriction, parameters = ("", []) if runs is None else runs.restrict(suites=suites)
    same = " AND ".join(f"score.{column} = inputs.{column}" for column in file.key)
    n_inputs = count_changes(
        connection,
        f"""
        CREATE OR REPLACE TEMP TABLE inputs AS
            SELECT source.*, hash(source) AS input_hash
            FROM scores.{file.inputs} AS source {restriction}
        """,
        parameters,
    )
    had_rows = False
    # Planning these statements takes longer than a new run, which has no scores, does otherwise.
    if runs is None or not runs.are_new:
        held = f"SELECT true FROM {file.qualified} AS score {restriction} LIMIT 1"
        had_rows = bool(connection.execute(held, parameters).fetchall())
    if had_rows:
        connection.execute(
            f"""
            DELETE FROM {file.qualified} WHERE rowid IN (
                SELECT score.row FROM (
                    SELECT score.*, score.rowid AS row FROM {file.qualified} AS score {restriction}
                ) AS score
                ANTI JOIN inputs ON {same} AND score.input_hash = inputs.input_hash
            )
            """,
            parameters,
        )
        n_inputs -= count_changes(
            connection,
            f"DELETE FROM inputs WHERE EXISTS (FROM {file.qualified} AS score WHERE {same})",
        )
    if n_inputs:
        connection.execute(
            f"""
            INSERT INTO {file.qualified} BY NAME
                SELECT score.*, inputs.input_hash FROM ({file.sql}) AS score JOIN inputs ON {same}
            """
        )
    connection.execute("DROP TABLE inputs")
    return had_rows or n_inputs > 0
