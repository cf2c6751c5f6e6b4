"""The incremental update of the warehouse from the lake."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import duckdb

from warehouse.core.errors import EvalstoreError, StoreBusy, StoreDamaged
from warehouse.core.files import open_regular
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import TABLES
from warehouse.engine.connection import log_file, open_for_reading, open_for_writing
from warehouse.engine.tables import facts, loading, score_tables
from warehouse.engine.tables.boards import compute_boards, update_boards
from warehouse.engine.tables.pair_tests import create_pair_tests
from warehouse.engine.tables.runs import runs_in
from warehouse.engine.views.dictionary import comment_on_everything, dictionary_digest
from warehouse.engine.views.sql_files import (
    code_digest,
    in_order,
    lake_tables,
    references,
    shipped_sql,
    sql_digest,
)
from warehouse.engine.views.template import copy_template, discard_template, keep_template
from warehouse.lake.locks import (
    WAIT_SECONDS,
    exclusive_lake_lock,
    open_lock,
    shared_lake_lock,
    wait_for,
)
from warehouse.lake.missing_files import unreadable_files
from warehouse.lake.schema_check import fitness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from warehouse.engine.views.sql_files import SqlFile
    from warehouse.lake.batch import Batch, RunKey
    from warehouse.lake.lake import Lake

# How long to wait for another sync.
_SYNC_SECONDS = 120.0
_LOCK = "sync.lock"
# A message about a damaged batch names this many runs at most.
_NAMED_RUNS = 3
# A warehouse with more results is rebuilt when its tables are defined again; see `_is_large`.
_MOST_REDEFINED = 20_000
# Key in `lake.meta`: finding out which tables each score depends on means parsing all SQL files.
_SCORES = "tables of scores"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did.

    Attributes:
        loaded: names of the loaded batches.
        damaged: one message per damaged batch, which was left out.
        unreadable: one message per file of a loaded batch that can no longer be read.
        rebuilt: whether the warehouse was built from scratch.
        known: the folders of the lake as the warehouse knows them; None after a rebuild.
    """

    loaded: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    rebuilt: bool = False
    known: KnownFolders | None = None


@dataclass(frozen=True, slots=True)
class KnownFolders:
    """What a warehouse knows of the folders of the lake.

    Attributes:
        loaded: number of original batches of each folder that it has loaded.
        replaced: the other folders that it knows to be replaced.
    """

    loaded: dict[str, int]
    replaced: frozenset[str]


@dataclass(frozen=True, slots=True)
class _State:
    """What a warehouse was built from.

    Attributes:
        schema: hash of what its tables are made from.
        definitions: hash of the SQL files and scoring functions.
        batches: names of the loaded folders of the lake.
    """

    schema: str
    definitions: str
    batches: frozenset[str]


def is_current(connection: duckdb.DuckDBPyConnection, lake: Lake) -> bool:
    """Return whether an open warehouse has all batches of the lake and this version's views.

    Raises:
        duckdb.Error: the file is not a warehouse of evalstore.
    """
    state = _state(connection)
    return state == _target_state(connection, lake, state)


def describe(connection: duckdb.DuckDBPyConnection) -> tuple[str, frozenset[str]]:
    """Return which version built an open warehouse, in words, and its loaded folders.

    Raises:
        duckdb.Error: the file is not a warehouse of evalstore.
    """
    state = _state(connection)
    is_ours = (state.schema, state.definitions) == (loading.tables_digest(), _definitions())
    other = "built by another version of evalstore; the next command that reads updates it"
    return "built by this version" if is_ours else other, state.batches


def missing_folders(connection: duckdb.DuckDBPyConnection, folders: Iterable[str]) -> set[str]:
    """Return those folders of the lake that an open warehouse should have loaded but has not."""
    new = set(folders) - _state(connection).batches
    return new - _replaced(connection, new)


def known_folders(connection: duckdb.DuckDBPyConnection, lake: Lake) -> KnownFolders:
    """Return what an open warehouse knows of the folders that the lake has at this moment."""
    names = lake.batch_names()
    rows = connection.execute("SELECT folder, count(*) FROM lake.batches GROUP BY ALL").fetchall()
    loaded = {folder: n_batches for folder, n_batches in rows if folder in names}
    return KnownFolders(loaded, frozenset(_replaced(connection, names - loaded.keys())))


def sync(
    warehouse: Path, lake: Lake, *, rebuild: bool = False, wait_seconds: float = WAIT_SECONDS
) -> SyncReport:
    """Load the batches that are not in the warehouse, and compute what depends on them.

    All in one transaction: readers see the state before or after. A warehouse that is damaged,
    has another schema version, or holds rows that `forget` has removed since is built from
    scratch in a new file, which replaces the old one when it is complete.

    Raises:
        StoreBusy: another program holds the warehouse.
        StoreNewer: a newer version of evalstore wrote a batch.
    """
    with sync_lock(lake.store_path) as has_waited:
        with suppress(OSError):
            _discard(_new_file(warehouse))  # what a killed rebuild left behind
        with shared_lake_lock(lake.store_path):
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
    """Remove what a killed `forget` left behind, unless the lake is being read."""
    with suppress(EvalstoreError), exclusive_lake_lock(lake.store_path, wait_seconds=0):
        lake.remove_replaced()


def _was_brought_up_to_date(warehouse: Path, lake: Lake, wait_seconds: float) -> bool:
    """Return whether the sync that this one waited for did its work: no need to write then."""
    try:
        with open_for_reading(warehouse, wait_seconds=wait_seconds) as connection:
            return is_current(connection, lake)
    except duckdb.Error:
        return False


def _try_increment(warehouse: Path, lake: Lake, wait_seconds: float) -> SyncReport | None:
    """Load what is new; None if only a rebuild will do."""
    try:
        with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
            state = _state(connection)
            target = _target_state(connection, lake, state)
            names = sorted(target.batches - state.batches)
            batches, damaged, columns = _readable(lake, names, connection)
            replaced = {name for batch in batches for name in batch.replaces}
            batches = [batch for batch in batches if batch.name not in replaced]
            gone = state.batches - (target.batches - replaced)
            if state.schema != target.schema or not loading.is_preserved(connection, batches, gone):
                return None
            redefine = state.definitions != target.definitions
            if redefine and _is_large(connection):
                return None
            loaded: tuple[str, ...] = ()
            if batches or redefine:
                loaded = _increment(connection, lake, batches, columns, redefine=redefine)
            unreadable = unreadable_files(connection, lake)
            known = known_folders(connection, lake)
            return SyncReport(loaded, tuple(damaged), tuple(unreadable), known=known)
    except (duckdb.Error, StoreDamaged):  # in the warehouse, or in the batches it was built from
        return None


def _is_large(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether tables may have more rows than DuckDB keeps in memory before it writes them.

    In a transaction that has created such a table, DuckDB 2.0 does not read its rows: scores that
    are made of others would be empty.
    """
    [(n_results,)] = connection.execute("SELECT count(*) FROM lake.results").fetchall()
    return bool(n_results > _MOST_REDEFINED)


def _rebuild(
    warehouse: Path, lake: Lake, wait_seconds: float, *, from_template: bool = True
) -> SyncReport:
    new_file = _new_file(warehouse)
    _discard(new_file)
    with open_in_memory() as connection:
        batches, damaged, columns = _readable(lake, sorted(lake.batch_names()), connection)
    replaced = {name for batch in batches for name in batch.replaces}
    batches = [batch for batch in batches if batch.name not in replaced]
    is_copy = False
    try:
        is_copy = create_warehouse(new_file, wait_seconds, from_template=from_template)
        with open_for_writing(new_file, wait_seconds=wait_seconds) as connection:
            loaded = _increment(connection, lake, batches, columns, redefine=False)
            # The log file is not moved with the warehouse, and a full disk fails silently at close.
            connection.execute("CHECKPOINT")
    except duckdb.Error as error:
        _discard(new_file)
        if is_copy:
            # It stays if the cache folder cannot be written: the second try must not copy it again.
            discard_template(_definitions())
            return _rebuild(warehouse, lake, wait_seconds, from_template=False)
        raise EvalstoreError(
            f"{new_file}: the warehouse could not be built ({_first_line(error)}); all data is "
            "safe in the lake"
        ) from error
    try:
        _swap(new_file, warehouse, wait_seconds)
    except StoreBusy:
        _discard(new_file)
        raise
    return SyncReport(loaded, tuple(damaged), rebuilt=True)


def _new_file(warehouse: Path) -> Path:
    """Return the path of a warehouse that is being rebuilt."""
    return warehouse.with_name(f"{warehouse.name}.new")


def _discard(warehouse: Path) -> None:
    for path in (warehouse, log_file(warehouse)):
        path.unlink(missing_ok=True)


def _swap(new_file: Path, warehouse: Path, wait_seconds: float) -> None:
    # A program that holds the old file would keep reading it: wait until it closes it.
    if warehouse.exists():
        try:
            with open_for_writing(warehouse, wait_seconds=wait_seconds, has_functions=False):
                pass
        except duckdb.Error:
            pass
    log_file(warehouse).unlink(missing_ok=True)
    new_file.replace(warehouse)


def _readable(
    lake: Lake, names: Sequence[str], connection: duckdb.DuckDBPyConnection
) -> tuple[list[Batch], list[str], dict[str, frozenset[str]]]:
    """Return the undamaged batches, a message for each of the others, and the columns by file."""
    batches, damaged = [], []
    for name in names:
        lacking = ""
        try:
            batch = lake.read(name)
            lacking = _runs(batch)
            lake.verify(batch)
            batches.append(batch)
        except StoreDamaged as error:
            damaged.append(f"{error}; the batch was left out{lacking}")
    found = fitness(lake, batches, connection)
    damaged += [
        f"{found.misfits[batch.name]}; the batch was left out{_runs(batch)}"
        for batch in batches
        if batch.name in found.misfits
    ]
    fit = [batch for batch in batches if batch.name not in found.misfits]
    return fit, damaged, found.columns


def _runs(folder: Batch) -> str:
    """Return the runs with rows in a batch, as the end of a message."""
    runs = sorted({g.run_id for batch in folder.contents for g in batch.generations})
    more = f" and {len(runs) - _NAMED_RUNS:,} more" if len(runs) > _NAMED_RUNS else ""
    return f", with its rows of {', '.join(runs[:_NAMED_RUNS])}{more}" if runs else ""


def create_warehouse(warehouse: Path, wait_seconds: float, *, from_template: bool = True) -> bool:
    """Create a warehouse with all tables and views, and no rows; return if it is a copy.

    Raises:
        duckdb.Error: it cannot be created.
    """
    if from_template and copy_template(_definitions(), warehouse):
        return True
    _create_empty(warehouse, wait_seconds)
    keep_template(_definitions(), warehouse)
    return False


def _create_empty(warehouse: Path, wait_seconds: float) -> None:
    """Create a warehouse with all tables and views, and no rows."""
    with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
        # One transaction: otherwise each statement would wait for the disk.
        connection.execute("BEGIN; CREATE SCHEMA scores; CREATE SCHEMA checks")
        loading.create_tables(connection)
        connection.execute("CREATE TABLE lake.meta (key VARCHAR PRIMARY KEY, value VARCHAR)")
        connection.execute("INSERT INTO lake.meta VALUES ('schema', ?)", [loading.tables_digest()])
        score_tables.create_shared_calls(connection)
        _define(connection)
        connection.execute("COMMIT; CHECKPOINT")


def _increment(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    folders: Sequence[Batch],
    columns: Mapping[str, frozenset[str]],
    *,
    redefine: bool,
) -> tuple[str, ...]:
    """Load batches and compute what depends on them; return the names of new ones."""
    connection.execute("BEGIN")
    emptied = _define(connection) if redefine else set()
    new = loading.load(connection, lake, folders, columns)
    by_content = {table.name for table in TABLES if not table.of_run}
    changed = {name for batch in new for name in batch.files if name in by_content}
    derive(connection, emptied=emptied, changed=changed)
    connection.execute("COMMIT")
    return tuple(batch.name for batch in new)


def remove_runs(warehouse: Path, runs: Iterable[RunKey], *, wait_seconds: float) -> None:
    """Remove runs from a copy of a warehouse, and compute again what depends on them.

    The lake still has them: never for a store's own warehouse, which `forget` rebuilds.
    """
    with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
        connection.execute("BEGIN")
        changed = loading.delete_runs(connection, runs)
        derive(connection, emptied=set(), changed=changed)
        connection.execute("COMMIT")


def derive(
    connection: duckdb.DuckDBPyConnection,
    *,
    emptied: set[str],
    changed: set[str],
    duplicates: str | None = None,
) -> None:
    """Compute what depends on the runs in the temporary table `changed_runs`.

    Args:
        connection: the warehouse, in a transaction.
        emptied: names of tables that lack all rows.
        changed: names of the tables of the lake whose rows, of no run, have changed.
        duplicates: a query for the rows of `scores.duplicate_calls`, where the warehouse does not
            have all runs; None to look for duplicate calls among its own.
    """
    runs = runs_in(connection, "changed_runs")
    has_shared_calls = duplicates is not None or score_tables.update_shared_calls(connection, runs)
    tables = _tables_of_scores(connection)
    recompute_all = {name for name in tables if name in emptied or tables[name] & changed}
    if has_shared_calls:
        recompute_all.add(score_tables.DUPLICATE_CALLS)
    by_name = {file.name: file for file in shipped_sql() if file.is_table}
    in_order = [by_name[name] for name in tables]
    stages = score_tables.in_stages(in_order)
    others_change = {
        "may_change_setups": not recompute_all.isdisjoint(file.name for file in stages.setups),
        "may_change_duplicates": score_tables.DUPLICATE_CALLS in recompute_all,
    }
    facts.begin(connection, **others_change)
    score_tables.refresh(connection, in_order, runs, recompute=recompute_all)
    if duplicates is not None:
        connection.execute(f"INSERT INTO scores.duplicate_calls BY NAME {duplicates}")
    # Facts need setups and verdicts; other scores need facts.
    touched = facts.Touched(runs)
    scope = score_tables.scope(connection, runs, recompute_all=recompute_all)
    score_tables.update_scores(connection, stages.setups, scope)
    facts.mark_replaced_and_duplicate_results(connection, touched, **others_change)
    if score_tables.update_scores(connection, stages.verdicts, scope):
        everywhere = not recompute_all.isdisjoint(file.name for file in stages.verdicts)
        facts.mark_verdicts(connection, touched, everywhere=everywhere)
    touched_runs = facts.update_facts(connection, in_order, touched, emptied=emptied)
    score_tables.update_scores(connection, stages.others, scope)
    if duplicates is None:
        boards = [file for file in in_order if file.is_board]
        rescored = {str(file.suite) for file in stages.others if file.name in recompute_all}
        is_changed = any(tables[file.name] & changed for file in boards)
        if emptied:
            compute_boards(connection, boards)
        elif touched_runs is not None or rescored or is_changed:
            update_boards(connection, boards, touched_runs, rescored=rescored)


def _define(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Recreate all views and functions; return the names of scores emptied for a new scorer."""
    files, tables = _definitions_in_order()
    _drop_former(connection, files)
    create_pair_tests(connection)
    emptied = set()
    for file in files:
        if file.is_function:
            connection.execute(file.sql)
        elif file.is_materialised:
            if score_tables.create_score_table(connection, file, files):
                emptied.add(file.name)
        elif file.is_refreshed or file.is_board:
            score_tables.create_refreshed_table(connection, file)
            emptied.add(file.name)
        elif file.is_by_run:
            if facts.create_table_by_run(connection, file, files):
                emptied.add(file.name)
        else:
            connection.execute(f"CREATE VIEW {file.qualified} AS {file.sql}")
    comment_on_everything(connection, files)
    of_scores = {f.name: sorted(tables[f.qualified]) for f in files if f.is_table}
    connection.execute(
        "INSERT OR REPLACE INTO lake.meta VALUES ('definitions', ?), (?, ?)",
        [_definitions(), _SCORES, json.dumps(of_scores)],
    )
    return emptied


def _tables_of_scores(connection: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    """Return the tables of scores in order, and the tables of the lake that each depends on."""
    query = "SELECT value FROM lake.meta WHERE key = ?"
    [(text,)] = connection.execute(query, [_SCORES]).fetchall()
    return {name: set(tables) for name, tables in json.loads(text).items()}


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
    # One query: each costs every command a few milliseconds.
    rows = connection.execute(
        "SELECT key, value FROM lake.meta UNION ALL SELECT DISTINCT NULL, folder FROM lake.batches"
    ).fetchall()
    meta = {key: value for key, value in rows if key is not None}
    folders = frozenset(value for key, value in rows if key is None)
    return _State(meta.get("schema", ""), meta.get("definitions", ""), folders)


def _target_state(connection: duckdb.DuckDBPyConnection, lake: Lake, loaded: _State) -> _State:
    """Return what this version would build a warehouse from.

    Args:
        connection: the warehouse, which knows the batches that others replaced.
        lake: the lake.
        loaded: the state of the warehouse; none of its folders is replaced.
    """
    names = lake.batch_names()
    new = names - loaded.batches
    return _State(
        loading.tables_digest(),
        _definitions(),
        frozenset(names - _replaced(connection, new)),
    )


def _replaced(connection: duckdb.DuckDBPyConnection, folders: Iterable[str]) -> set[str]:
    """Return those of some folders that others replaced; there may be a history of them."""
    names = sorted(folders)
    if not names:
        return set()
    query = "FROM lake.replaced_batches WHERE list_contains($names, batch)"
    return {name for (name,) in connection.execute(query, {"names": names}).fetchall()}


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
    return loading.tables_digest(), _definitions()


@cache
def _definitions() -> str:
    parts = (sql_digest(), code_digest(), dictionary_digest(), _SCORES)
    return " ".join(parts)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def is_syncing(store_path: Path) -> bool:
    """Return whether a sync is changing the store's warehouse at this moment."""
    try:
        with open_regular(store_path / _LOCK) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def sync_lock(store_path: Path) -> Iterator[bool]:
    """Keep other syncs of the store out; yield whether one had to be waited for.

    Raises:
        StoreBusy: another sync is still active after two minutes.
        StoreReadOnly: the store cannot be written.
    """
    path = store_path / _LOCK
    with open_lock(path) as lock:
        busy = f"{path}: another sync is active; try again when it ends"
        yield wait_for(lock, fcntl.LOCK_EX, _SYNC_SECONDS, busy)
