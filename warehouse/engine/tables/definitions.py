"""What the tables and views of a warehouse are made from, and the empty warehouse that has them."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from warehouse.core.in_memory import open_in_memory
from warehouse.engine.tables import loading
from warehouse.engine.views.dictionary import comment_on_everything, dictionary_digest
from warehouse.engine.views.sql_files import (
    code_digest,
    in_order,
    lake_tables,
    references,
    shipped_sql,
    sql_digest,
    statistics_digest,
)
from warehouse.engine.views.template import copy_template, keep_template

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

    from warehouse.engine.views.sql_files import SqlFile

# Every command compares the digests below; what creates tables is imported where it is used.

# Key in `lake.meta`: finding out which tables each score depends on means parsing all SQL files.
_SCORES = "tables of scores"


def create_warehouse(warehouse: Path, wait_seconds: float, *, from_template: bool = True) -> bool:
    """Create a warehouse with all tables and views, and no rows; return if it is a copy.

    Raises:
        duckdb.Error: it cannot be created.
    """
    if from_template and copy_template(digest(), warehouse):
        return True
    _create_empty(warehouse, wait_seconds)
    keep_template(digest(), warehouse)
    return False


def _create_empty(warehouse: Path, wait_seconds: float) -> None:
    """Create a warehouse with all tables and views, and no rows."""
    from warehouse.engine.connection import open_for_writing
    from warehouse.engine.tables.shared_calls import create_shared_calls

    with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
        # One transaction: otherwise each statement would wait for the disk.
        connection.execute("BEGIN; CREATE SCHEMA scores; CREATE SCHEMA checks")
        loading.create_tables(connection)
        connection.execute("CREATE TABLE lake.meta (key VARCHAR PRIMARY KEY, value VARCHAR)")
        connection.execute("INSERT INTO lake.meta VALUES ('schema', ?)", [loading.tables_digest()])
        create_shared_calls(connection)
        define(connection)
        connection.execute("COMMIT; CHECKPOINT")


def define(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Recreate all views and functions; return the names of scores emptied for a new scorer."""
    from warehouse.engine.tables.pair_tests import create_pair_tests
    from warehouse.engine.tables.raters.corrected_means import create_corrected_means
    from warehouse.engine.tables.raters.judge_agreement import create_judge_agreement
    from warehouse.engine.tables.raters.vote_scores import create_vote_scores
    from warehouse.engine.tables.score_tables import create_table

    files, tables = _definitions_in_order()
    _drop_former(connection, files)
    create_pair_tests(connection)
    create_judge_agreement(connection)
    create_corrected_means(connection)
    create_vote_scores(connection)
    emptied = set()
    for file in files:
        if file.is_function:
            connection.execute(file.sql)
        elif not file.is_table:
            connection.execute(f"CREATE VIEW {file.qualified} AS {file.sql}")
        elif create_table(connection, file, files):
            emptied.add(file.name)
    comment_on_everything(connection, files)
    of_scores = {f.name: sorted(tables[f.qualified]) for f in files if f.is_table}
    connection.execute(
        "INSERT OR REPLACE INTO lake.meta VALUES ('definitions', ?), (?, ?)",
        [digest(), _SCORES, json.dumps(of_scores)],
    )
    return emptied


def _drop_former(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> None:
    """Drop all views, and the functions and scores that no file defines any more."""
    from warehouse.engine.tables.score_tables import drop_former_scores

    views = connection.execute(
        "SELECT format('{}.{}', schema_name, view_name) FROM duckdb_views() WHERE NOT internal"
    ).fetchall()
    for (name,) in views:
        connection.execute(f"DROP VIEW {name}")
    functions = {file.name for file in files if file.is_function}
    macros = connection.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE NOT internal AND function_type = 'macro'"
    ).fetchall()
    for (name,) in macros:
        if name not in functions:
            connection.execute(f"DROP MACRO {name}")
    drop_former_scores(connection, files)


def tables_of_scores(connection: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    """Return the tables of scores in order, and the tables of the lake that each depends on."""
    query = "SELECT value FROM lake.meta WHERE key = ?"
    [(text,)] = connection.execute(query, [_SCORES]).fetchall()
    return {name: set(tables) for name, tables in json.loads(text).items()}


def board_files() -> list[SqlFile]:
    """Return the SQL files of the tables of boards, in order."""
    return [file for file in _definitions_in_order()[0] if file.is_board]


@cache
def _definitions_in_order() -> tuple[tuple[SqlFile, ...], dict[str, frozenset[str]]]:
    """Return the SQL files in order, and the tables of the lake that each depends on."""
    with open_in_memory() as connection:
        referred = references(shipped_sql(), connection)
    files = tuple(in_order(shipped_sql(), referred))
    return files, lake_tables(files, referred)


def digests() -> tuple[str, str]:
    """Return hashes of what this version makes tables from, and of its views and scores."""
    return loading.tables_digest(), digest()


@cache
def digest() -> str:
    """Return a hash of the views, the scoring functions, the statistics and what columns mean."""
    parts = (sql_digest(), code_digest(), statistics_digest(), dictionary_digest(), _SCORES)
    return " ".join(parts)
