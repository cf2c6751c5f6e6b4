"""Brings the warehouse up to date with the lake, by what is new alone."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import duckdb

from warehouse import loading, score_tables
from warehouse.connection import open_for_reading, open_for_writing, open_in_memory
from warehouse.dictionary import comment_on_everything, dictionary_digest
from warehouse.errors import EvalstoreError, StoreBusy, StoreDamaged
from warehouse.lake.locks import exclusive_lake_lock, open_lock, shared_lake_lock, wait_for
from warehouse.schemas import SCHEMA_VERSION, TABLES
from warehouse.sql_files import (
    code_digest,
    in_order,
    lake_tables,
    references,
    shipped_sql,
    sql_digest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from warehouse.lake.batch import Batch
    from warehouse.lake.lake import Lake
    from warehouse.sql_files import SqlFile

# How long another program may hold the warehouse before we go on without it, and how long
# another sync of ours may take before we do.
WAIT_SECONDS = 5.0
_SYNC_SECONDS = 120.0
_LOCK = "sync.lock"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did.

    Attributes:
        loaded: names of the batches that it loaded.
        damaged: what is wrong with the batches that it left out.
        rebuilt: whether the warehouse was made from nothing.
    """

    loaded: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    rebuilt: bool = False


@dataclass(frozen=True, slots=True)
class _State:
    """What a warehouse was made from.

    Attributes:
        schema: version of the lake's schemas.
        definitions: hash of the SQL files and scoring functions.
        batches: folders of the lake that are loaded.
    """

    schema: str
    definitions: str
    batches: frozenset[str]


def is_current(connection: duckdb.DuckDBPyConnection, lake: Lake) -> bool:
    """Tell whether an open warehouse holds all batches of the lake, and our own views.

    Raises:
        duckdb.Error: it is no warehouse of ours.
    """
    return _state(connection) == _wanted(connection, lake)


def examine(connection: duckdb.DuckDBPyConnection) -> tuple[str, frozenset[str]]:
    """Say which version an open warehouse is of, and which batches it has loaded.

    Raises:
        duckdb.Error: it is no warehouse of ours.
    """
    state = _state(connection)
    is_ours = (state.schema, state.definitions) == (str(SCHEMA_VERSION), _definitions())
    other = "of another version of evalstore; the next command that reads brings it up to date"
    return "of this version" if is_ours else other, state.batches


def lacking(connection: duckdb.DuckDBPyConnection, folders: Iterable[str]) -> set[str]:
    """Say which of some folders of the lake an open warehouse should have loaded, and has not."""
    replaced = connection.execute("FROM lake.replaced_batches").fetchall()
    return set(folders) - _state(connection).batches - {name for (name,) in replaced}


def sync(
    warehouse: Path, lake: Lake, *, rebuild: bool = False, wait_seconds: float = WAIT_SECONDS
) -> SyncReport:
    """Load the batches that the warehouse has not seen, and compute what depends on them.

    One transaction: readers see the state before or the state after. A warehouse of another
    version, a damaged one, or one with something that `forget` has taken out since is made from
    nothing, beside the old one, and takes its place when it is complete.

    Raises:
        StoreBusy: another program holds the warehouse.
        StoreNewer: the lake has batches of a newer version.
    """
    with only_writer(lake.store) as has_waited:
        with shared_lake_lock(lake.store):
            report = None
            if warehouse.exists() and not rebuild:
                if has_waited and _was_brought_up_to_date(warehouse, lake, wait_seconds):
                    return SyncReport()
                report = _try_increment(warehouse, lake, wait_seconds)
            if report is None:
                report = _rebuild(warehouse, lake, wait_seconds)
        if report.rebuilt:
            _sweep(lake)
    return report


def _sweep(lake: Lake) -> None:
    """Remove what a `forget` that was killed has left behind; later, where the lake is read."""
    with suppress(EvalstoreError), exclusive_lake_lock(lake.store, wait_seconds=0):
        lake.remove_replaced()


def _was_brought_up_to_date(warehouse: Path, lake: Lake, wait_seconds: float) -> bool:
    """Tell whether the sync that this one waited for has done its work: then nobody is kept out."""
    try:
        with open_for_reading(warehouse, wait_seconds=wait_seconds) as connection:
            return is_current(connection, lake)
    except duckdb.Error:
        return False


def _try_increment(warehouse: Path, lake: Lake, wait_seconds: float) -> SyncReport | None:
    """Add what is new; None where only a rebuild will do."""
    try:
        with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
            state, wanted = _state(connection), _wanted(connection, lake)
            batches, damaged = _readable(lake, sorted(wanted.batches - state.batches))
            replaced = {name for batch in batches for name in batch.replaces}
            batches = [batch for batch in batches if batch.name not in replaced]
            gone = state.batches - (wanted.batches - replaced)
            if state.schema != wanted.schema or not loading.is_kept(connection, batches, gone):
                return None
            redefine = state.definitions != wanted.definitions
            loaded: tuple[str, ...] = ()
            if batches or redefine:
                loaded = _increment(connection, lake, batches, redefine=redefine)
            return SyncReport(loaded, tuple(damaged))
    except (duckdb.Error, StoreDamaged):  # damaged: the warehouse, or what it was made from
        return None


def _rebuild(warehouse: Path, lake: Lake, wait_seconds: float) -> SyncReport:
    fresh = warehouse.with_name(f"{warehouse.name}.new")
    _discard(fresh)
    batches, damaged = _readable(lake, sorted(lake.batch_names()))
    replaced = {name for batch in batches for name in batch.replaces}
    batches = [batch for batch in batches if batch.name not in replaced]
    try:
        with open_for_writing(fresh, wait_seconds=wait_seconds) as connection:
            _create(connection)
            loaded = _increment(connection, lake, batches, redefine=True)
            # What is only in its log would not be moved; and closing is silent on a full disk.
            connection.execute("CHECKPOINT")
    except duckdb.Error as error:
        _discard(fresh)
        raise EvalstoreError(
            f"{fresh}: the warehouse could not be built ({_first_line(error)}); the lake has "
            "everything safe"
        ) from error
    try:
        _swap(fresh, warehouse, wait_seconds)
    except StoreBusy:
        _discard(fresh)
        raise
    return SyncReport(loaded, tuple(damaged), rebuilt=True)


def _discard(warehouse: Path) -> None:
    for path in (warehouse, warehouse.with_name(f"{warehouse.name}.wal")):
        path.unlink(missing_ok=True)


def _swap(fresh: Path, warehouse: Path, wait_seconds: float) -> None:
    # A program that holds the old file would go on reading what is no longer there.
    if warehouse.exists():
        try:
            with open_for_writing(warehouse, wait_seconds=wait_seconds):
                pass
        except duckdb.Error:
            pass
    warehouse.with_name(f"{warehouse.name}.wal").unlink(missing_ok=True)
    fresh.replace(warehouse)


def _readable(lake: Lake, names: Sequence[str]) -> tuple[list[Batch], list[str]]:
    batches, damaged = [], []
    for name in names:
        try:
            batch = lake.read(name)
            lake.verify(batch)
            batches.append(batch)
        except StoreDamaged as error:
            damaged.append(str(error))
    return batches, damaged


def _create(connection: duckdb.DuckDBPyConnection) -> None:
    # One transaction: each statement by itself would wait for the disk.
    connection.execute("BEGIN; CREATE SCHEMA scores; CREATE SCHEMA checks")
    loading.create_tables(connection)
    connection.execute("CREATE TABLE lake.meta (key VARCHAR PRIMARY KEY, value VARCHAR)")
    connection.execute("INSERT INTO lake.meta VALUES ('schema', ?)", [str(SCHEMA_VERSION)])
    score_tables.create_duplicate_calls(connection)
    connection.execute("COMMIT")


def _increment(
    connection: duckdb.DuckDBPyConnection, lake: Lake, folders: Sequence[Batch], *, redefine: bool
) -> tuple[str, ...]:
    """Load batches and compute what depends on them; give the names of those that were new."""
    files, tables = _definitions_in_order()
    connection.execute("BEGIN")
    emptied = _define(connection, files) if redefine else set()
    new = loading.load(connection, lake, folders)
    score_tables.update_duplicate_calls(connection)
    by_content = {table.name for table in TABLES if not table.of_run}
    changed = {name for batch in new for name in batch.files if name in by_content}
    everywhere = {
        file.name
        for file in files
        if file.is_materialised and (file.name in emptied or tables[file.qualified] & changed)
    }
    score_tables.update_scores(connection, files, everywhere=everywhere)
    connection.execute("COMMIT")
    return tuple(batch.name for batch in new)


def _define(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> set[str]:
    """Recreate all views and functions; return the names of scores emptied for a new scorer."""
    _drop_former(connection, files)
    emptied = set()
    for file in files:
        if file.is_function:
            connection.execute(file.sql)
        elif file.is_materialised:
            if score_tables.create_score_table(connection, file, files):
                emptied.add(file.name)
        else:
            connection.execute(f"CREATE VIEW {file.qualified} AS {file.sql}")
    comment_on_everything(connection, files)
    connection.execute(
        "INSERT OR REPLACE INTO lake.meta VALUES ('definitions', ?)", [_definitions()]
    )
    return emptied


def _drop_former(connection: duckdb.DuckDBPyConnection, files: Sequence[SqlFile]) -> None:
    """Drop all views, and the functions and scores that no file defines any more."""
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
    score_tables.drop_former_scores(connection, files)


def _state(connection: duckdb.DuckDBPyConnection) -> _State:
    meta = dict(connection.execute("FROM lake.meta").fetchall())
    names = connection.execute("SELECT DISTINCT folder FROM lake.batches").fetchall()
    return _State(
        meta.get("schema", ""), meta.get("definitions", ""), frozenset(name for (name,) in names)
    )


def _wanted(connection: duckdb.DuckDBPyConnection, lake: Lake) -> _State:
    replaced = {name for (name,) in connection.execute("FROM lake.replaced_batches").fetchall()}
    return _State(str(SCHEMA_VERSION), _definitions(), frozenset(lake.batch_names() - replaced))


@cache
def _definitions_in_order() -> tuple[tuple[SqlFile, ...], dict[str, frozenset[str]]]:
    """Give the SQL files in order, and the tables of the lake that each of them is made from."""
    with open_in_memory() as connection:
        referred = references(shipped_sql(), connection)
    files = tuple(in_order(shipped_sql(), referred))
    return files, lake_tables(files, referred)


@cache
def _definitions() -> str:
    return f"{sql_digest(shipped_sql())} {code_digest()} {dictionary_digest()}"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def is_at_work(store: Path) -> bool:
    """Tell whether a sync of ours is changing the store's warehouse at this moment."""
    try:
        with (store / _LOCK).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def only_writer(store: Path) -> Iterator[bool]:
    """Keep other syncs of the store away; tell whether one had to be waited for.

    Raises:
        StoreBusy: another sync is still at work after two minutes.
        StoreReadOnly: the store cannot be written.
    """
    path = store / _LOCK
    with open_lock(path) as lock:
        busy = f"{path}: another sync is at work; wait until it is done"
        yield wait_for(lock, fcntl.LOCK_EX, _SYNC_SECONDS, busy)
