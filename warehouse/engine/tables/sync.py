"""The incremental update of the warehouse from the lake."""

from __future__ import annotations

import fcntl
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb

from warehouse.core.errors import EvalstoreError, StoreBusy, StoreDamaged
from warehouse.core.files import open_regular
from warehouse.core.in_memory import open_in_memory
from warehouse.core.schemas import TABLES
from warehouse.core.text.formatting import visible
from warehouse.engine.connection import (
    limit_memory,
    log_file,
    open_for_reading,
    open_for_writing,
)
from warehouse.engine.tables import definitions, loading
from warehouse.engine.tables.definitions import create_warehouse, define
from warehouse.engine.tables.state import (
    KnownFolders,
    is_current,
    known_folders,
    read_state,
    target_state,
)
from warehouse.engine.views.template import discard_template
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
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from warehouse.lake.batch import Batch, RunKey
    from warehouse.lake.lake import Lake

# How long to wait for another sync.
_SYNC_SECONDS = 120.0
_LOCK = "sync.lock"
_FOREIGN_RECORDS = """
DELETE FROM lake.annotations WHERE suite NOT IN (SELECT suite FROM lake.runs) RETURNING suite
"""
_NAMED_RUNS = 3  # at most, in a message about a damaged batch
_DAMAGE = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.FatalException,
    duckdb.InternalException,
)
_LONGEST = 200  # characters of an error of DuckDB
# A warehouse with more results is rebuilt when its tables are defined again; see `_is_large`.
_MOST_REDEFINED = 20_000
# A larger rebuild commits each statement: DuckDB plans queries of its own changes badly.
_MOST_IN_ONE_TRANSACTION = 100_000
# DuckDB's memory in a rebuild: with more it only keeps blocks that it has written already.
_MOST_MEMORY = 2 * 10**9
# Key in `lake.meta` of the speed of the last rebuild, in results per second, and what it is
# assumed to be without one: that of two slow processors.
_PACE, _USUAL_PACE = "results per second", 100_000.0
# A shorter rebuild is not announced; a longer one is, in minutes.
_SHORT_SECONDS, _LONG_SECONDS = 2.0, 100.0


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


def sync(
    warehouse: Path,
    lake: Lake,
    *,
    rebuild: bool = False,
    wait_seconds: float = WAIT_SECONDS,
    on_rebuild: Callable[[str], None] | None = None,
) -> SyncReport:
    """Load the batches that are not in the warehouse, and compute what depends on them.

    All in one transaction: readers see the state before or after. A warehouse that is damaged,
    has another schema version, or holds rows that `forget` has removed since is built from
    scratch in a new file, which replaces the old one when it is complete.

    Args:
        warehouse: the DuckDB file.
        lake: the lake.
        rebuild: whether to build the warehouse from scratch in any case.
        wait_seconds: how long to wait for a program that holds the warehouse.
        on_rebuild: told, before a rebuild that takes a while, why and about how long.

    Raises:
        StoreBusy: another program holds the warehouse.
        StoreNewer: a newer version of evalstore wrote a batch.
    """
    with sync_lock(lake.store_path) as has_waited:
        with suppress(OSError):
            _discard(_new_file(warehouse))  # what a killed rebuild left behind
        with shared_lake_lock(lake.store_path):
            reason = "as asked" if rebuild else "there is none yet"
            if warehouse.exists() and not rebuild:
                if has_waited and _was_brought_up_to_date(warehouse, lake, wait_seconds):
                    return SyncReport()
                done = _try_increment(warehouse, lake, wait_seconds)
                if isinstance(done, SyncReport):
                    return done
                reason = done
            pace = _Pace(reason, _last_pace(warehouse), on_rebuild)
            report = _rebuild(warehouse, lake, wait_seconds, pace)
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


def _try_increment(warehouse: Path, lake: Lake, wait_seconds: float) -> SyncReport | str:
    """Load what is new; return why, if only a rebuild will do."""
    try:
        with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
            state = read_state(connection)
            target = target_state(connection, lake, state)
            names = sorted(target.batches - state.batches)
            batches, damaged, columns = _readable(lake, names, connection)
            replaced = {name for batch in batches for name in batch.replaces}
            batches = [batch for batch in batches if batch.name not in replaced]
            gone = state.batches - (target.batches - replaced)
            if state.schema != target.schema:
                return "this version of evalstore has other tables"
            if not loading.is_preserved(connection, batches, gone):
                return "rows that it holds were removed from the lake"
            redefine = state.definitions != target.definitions
            if redefine and _is_large(connection):
                return "this version of evalstore has other views, scores or statistics"
            loaded: tuple[str, ...] = ()
            if batches or redefine:
                loaded = _increment(connection, lake, batches, columns, redefine=redefine)
            unreadable = unreadable_files(connection, lake)
            known = known_folders(connection, lake)
            return SyncReport(loaded, tuple(damaged), tuple(unreadable), known=known)
    except duckdb.Error as error:
        return _failure_reason(error)
    except StoreDamaged:
        return "a batch that it was built from is damaged"


def _failure_reason(error: duckdb.Error) -> str:
    if isinstance(error, _DAMAGE):
        return "it is damaged"
    return f"bringing it up to date failed: {visible(str(error)[:_LONGEST].splitlines()[0])}"


def _is_large(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether tables may have more rows than DuckDB keeps in memory before it writes them.

    In a transaction that has created such a table, DuckDB 2.0 does not read its rows: scores that
    are made of others would be empty.
    """
    [(n_results,)] = connection.execute("SELECT count(*) FROM lake.results").fetchall()
    return bool(n_results > _MOST_REDEFINED)


@dataclass(frozen=True, slots=True)
class _Pace:
    """Why a rebuild is needed, and how fast the last one was.

    Attributes:
        reason: why, after "because".
        results_per_second: of the last rebuild, or a careful guess.
        on_rebuild: told about a rebuild that takes a while.
    """

    reason: str
    results_per_second: float
    on_rebuild: Callable[[str], None] | None

    def announce(self, n_results: int) -> None:
        """Say why the warehouse is rebuilt, and about how long it takes."""
        seconds = n_results / self.results_per_second
        if self.on_rebuild is None or seconds < _SHORT_SECONDS:
            return
        is_long = seconds > _LONG_SECONDS
        about = f"{seconds / 60:.0f} minutes" if is_long else f"{seconds:.0f} seconds"
        self.on_rebuild(
            f"building the warehouse from {n_results:,} results ({self.reason}); this takes about "
            f"{about}"
        )


def _last_pace(warehouse: Path) -> float:
    """Return how many results the last rebuild loaded in a second, here; else a careful guess."""
    query = "SELECT value FROM lake.meta WHERE key = ?"
    try:
        with open_for_reading(warehouse, wait_seconds=0) as connection:
            return float(connection.execute(query, [_PACE]).fetchall()[0][0])
    except (duckdb.Error, EvalstoreError, IndexError):
        return _USUAL_PACE


def _rebuild(
    warehouse: Path,
    lake: Lake,
    wait_seconds: float,
    pace: _Pace,
    *,
    is_first_try: bool = True,
) -> SyncReport:
    new_file = _new_file(warehouse)
    _discard(new_file)
    with open_in_memory() as connection:
        batches, damaged, columns = _readable(lake, sorted(lake.batch_names()), connection)
    replaced = {name for batch in batches for name in batch.replaces}
    batches = [batch for batch in batches if batch.name not in replaced]
    n_results = sum(batch.files["results"].rows for batch in batches if "results" in batch.files)
    pace.announce(n_results)
    started = time.monotonic()
    is_copy = False
    try:
        is_copy = create_warehouse(new_file, wait_seconds, from_template=is_first_try)
        with open_for_writing(new_file, wait_seconds=wait_seconds) as connection:
            if is_first_try:
                limit_memory(connection, _MOST_MEMORY)
            fill = load_and_derive if n_results > _MOST_IN_ONE_TRANSACTION else _increment
            loaded = fill(connection, lake, batches, columns)
            if n_results and (seconds := time.monotonic() - started) > _SHORT_SECONDS:
                results_per_second = [_PACE, str(n_results / seconds)]
                connection.execute("INSERT INTO lake.meta VALUES (?, ?)", results_per_second)
            # The log file is not moved with the warehouse, and a full disk fails silently at close.
            connection.execute("CHECKPOINT")
    except duckdb.Error as error:
        _discard(new_file)
        if is_copy or (is_first_try and isinstance(error, duckdb.OutOfMemoryException)):
            # It stays if the cache folder cannot be written: the second try must not copy it again.
            discard_template(definitions.digest())
            said = replace(pace, on_rebuild=None)
            return _rebuild(warehouse, lake, wait_seconds, said, is_first_try=False)
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


def _increment(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    folders: Sequence[Batch],
    columns: Mapping[str, frozenset[str]],
    *,
    redefine: bool = False,
) -> tuple[str, ...]:
    """Load batches and compute what depends on them; return the names of new ones."""
    connection.execute("BEGIN")
    emptied = define(connection) if redefine else set()
    names = load_and_derive(connection, lake, folders, columns, emptied=emptied)
    connection.execute("COMMIT")
    return names


def load_and_derive(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    folders: Sequence[Batch],
    columns: Mapping[str, frozenset[str]],
    *,
    emptied: Collection[str] = (),
) -> tuple[str, ...]:
    """Load batches and compute what depends on them, in the caller's transaction if there is one.

    Args:
        connection: the warehouse.
        lake: the lake that has the batches.
        folders: the batches.
        columns: the columns of each of their files.
        emptied: names of tables that lack all rows.

    Returns:
        The names of the batches that are new.
    """
    from warehouse.engine.tables.derivation import derive

    new = loading.load(connection, lake, folders, columns)
    by_content = {table.name for table in TABLES if not table.of_run}
    changed = {name for batch in new for name in batch.files if name in by_content}
    derive(connection, emptied=emptied, changed=changed)
    return tuple(batch.name for batch in new)


def remove_runs(warehouse: Path, runs: Iterable[RunKey], *, wait_seconds: float) -> None:
    """Remove runs from a copy of a warehouse, and compute again what depends on them.

    People's records are of no run: those of suites without a run go as well.

    The lake still has them: never for a store's own warehouse, which `forget` rebuilds.
    """
    from warehouse.engine.tables.derivation import derive

    with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
        connection.execute("BEGIN")
        changed = loading.delete_runs(connection, runs)
        if connection.execute(_FOREIGN_RECORDS).fetchall():
            changed.add("annotations")
        derive(connection, emptied=set(), changed=changed)
        connection.execute("COMMIT")


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
