"""The verification of a store: every byte is read, nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from warehouse.core.errors import EvalstoreError, StoreBusy, StoreDamaged
from warehouse.core.in_memory import open_in_memory
from warehouse.engine.connection import open_for_reading
from warehouse.engine.tables.state import describe
from warehouse.lake.journal.recovery import PendingJournal, cut_message, pending_journals
from warehouse.lake.locks import shared_lake_lock
from warehouse.lake.schema_check import misfits

if TYPE_CHECKING:
    from warehouse.engine.base_store import BaseStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of a verification.

    Attributes:
        n_batches: batches in the lake.
        n_files: Parquet files whose SHA-256 matches.
        damaged: one message per damaged batch.
        damaged_journals: one message per journal with damaged lines, or that cannot be read.
        replaced: batches that others replace; the next rebuild or `compact` removes them.
        not_loaded: batches that the warehouse lacks; the next command that reads loads them.
        journals: runs that are not in the lake yet.
        warehouse: the state of the warehouse, in words.
        is_sound: whether lake, journals and warehouse are undamaged.
    """

    n_batches: int
    n_files: int
    damaged: tuple[str, ...]
    damaged_journals: tuple[str, ...]
    replaced: tuple[str, ...]
    not_loaded: tuple[str, ...]
    journals: tuple[PendingJournal, ...]
    warehouse: str
    is_sound: bool


def verify(store: BaseStore) -> Verification:
    """Read every file of a store and report its state.

    Raises:
        StoreNewer: a newer version of evalstore wrote a batch.
        StoreUnreachable: the object store that holds the lake cannot be reached.
    """
    lake = store.lake
    damaged: list[str] = []
    good = []
    if lake.mirror is not None:
        lake.mirror.pull()
        damaged += lake.mirror.unfetched.values()
    n_unfetched = len(damaged)
    with shared_lake_lock(store.path):
        names = sorted(lake.batch_names())
        without_copies = store.fetch_copies(names)
        damaged += without_copies.values()
        for name in names:
            if name in without_copies:
                continue
            try:
                batch = lake.read(name)
                lake.verify(batch)
                good.append(batch)
            except StoreDamaged as error:
                damaged.append(str(error))
        with open_in_memory() as connection:
            unfit = misfits(lake, good, connection)
        damaged += unfit.values()
        good = [batch for batch in good if batch.name not in unfit]
        replaced = {name for batch in good for name in batch.replaces}.intersection(names)
        warehouse, loaded, is_readable = _warehouse(store)
    journals = tuple(pending_journals(store.path))
    damaged_journals = tuple(
        f"{journal.path}: {_damage(journal)}"
        for journal in journals
        if journal.n_bad_lines or journal.n_missing or journal.problem
    )
    return Verification(
        n_batches=len(names) + n_unfetched,
        n_files=sum(len(batch.files) for batch in good),
        damaged=tuple(damaged),
        damaged_journals=damaged_journals,
        replaced=tuple(sorted(replaced)),
        not_loaded=tuple(name for name in names if name not in loaded | replaced),
        journals=journals,
        warehouse=warehouse,
        is_sound=is_readable and not damaged and not damaged_journals,
    )


def _damage(journal: PendingJournal) -> str:
    if journal.problem:
        return f"cannot be read ({journal.problem})"
    if journal.n_missing:
        return cut_message(journal.n_missing)
    return f"damaged lines: {journal.n_bad_lines:,}; the next command moves them to quarantine"


def _warehouse(store: BaseStore) -> tuple[str, frozenset[str], bool]:
    """Return the warehouse's state, the batches it has loaded, and whether it is readable."""
    if not store.warehouse.exists():
        return "missing; the next command that reads creates it", frozenset(), True
    try:
        with open_for_reading(store.warehouse, wait_seconds=0) as connection:
            version, loaded = describe(connection)
            _read_all(connection)
    except StoreBusy as error:
        return f"not checked: {error}", frozenset(), True
    except EvalstoreError as error:
        return str(error), frozenset(), False
    except duckdb.Error:
        return "damaged: `evalstore sync --rebuild` recreates it", frozenset(), False
    return version, loaded, True


def _read_all(connection: duckdb.DuckDBPyConnection) -> None:
    """Read every block, so that DuckDB checks its checksum."""
    tables = connection.execute(
        "SELECT format('{}.{}', schema_name, table_name) FROM duckdb_tables()"
    ).fetchall()
    for (name,) in tables:
        connection.execute(f"SELECT max(hash(rows)) FROM {name} AS rows").fetchall()  # noqa: S608
