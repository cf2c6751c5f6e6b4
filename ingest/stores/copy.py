"""Copies what another store has into this one: its batches, by their names, as one new folder.

The folder is a merged batch, as `evalstore compact` writes them: it keeps the description of each
batch, and every row the name of its batch. It is written in `staging/` and moved into the lake by
one rename, so that an import that is killed leaves nothing and can be repeated.
"""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.stores.decisions import conflicts, decide
from ingest.stores.other import open_other
from ingest.stores.parts import Parts
from ingest.stores.rows import RowCopy
from warehouse.core.errors import BadInput
from warehouse.core.hashing import content_hash
from warehouse.lake.journal.recovery import pending_journals
from warehouse.lake.locks import open_lock, shared_lake_lock, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.stores.decisions import Batches, Decisions
    from ingest.stores.other import OtherStore
    from warehouse.lake.batch import RunKey
    from warehouse.lake.lake import Lake

_LOCK = "copy.lock"
_WAIT_SECONDS = 600.0


@dataclass(slots=True, kw_only=True)
class StoreCopy:
    """What the import of a store did.

    Attributes:
        path: folder of the other store.
        n_new: batches that were copied.
        n_known: batches that both stores had.
        runs: runs with new rows.
        n_results: number of results that were copied.
        n_unchanged: runs that both have from different batches, with nothing new.
        conflicts: runs that conflict, each with why; nothing of them was imported.
        forgotten: runs that were forgotten here and stay so.
        forgotten_there: runs of this store that were forgotten in the other.
        n_unfinished: runs in the other store's journals, which are not copied.
    """

    path: Path
    n_new: int = 0
    n_known: int = 0
    runs: set[RunKey] = field(default_factory=set)
    n_results: int = 0
    n_unchanged: int = 0
    conflicts: list[tuple[RunKey, str]] = field(default_factory=list)
    forgotten: list[RunKey] = field(default_factory=list)
    forgotten_there: list[RunKey] = field(default_factory=list)
    n_unfinished: int = 0


def copy_store(
    lake: Lake, path: Path, *, replace: bool = False, restore: bool = False
) -> StoreCopy:
    """Import another store, whose files are only read.

    Args:
        lake: the lake to import into.
        path: folder of the other store.
        replace: whether runs that conflict open a new generation.
        restore: whether runs that were forgotten here come back.

    Raises:
        BadInput: the folder is this store.
        StoreDamaged: a file of the other store has changed, or is not what a store has.
        StoreNewer: a newer version of evalstore wrote a batch of the other store.
        EvalstoreError: the batch could not be written.
    """
    if path.resolve() == lake.store_path.resolve():
        raise BadInput(f"{path}: this is the store itself; name another one")
    with _copy_lock(lake.store_path), shared_lake_lock(lake.store_path), shared_lake_lock(path):
        other = open_other(path, lake.current())
        batches = other.batches
        decisions = decide(lake, other.lake, batches, replace=replace, restore=restore)
        copied = StoreCopy(
            path=path,
            n_new=len(batches.new),
            n_known=len(batches.theirs) - len(batches.new),
            conflicts=conflicts(decisions),
            forgotten=sorted(decisions.forgotten),
            forgotten_there=_forgotten_there(batches),
            n_unfinished=sum(each.n_results > 0 for each in pending_journals(path)),
        )
        _write(lake, other, decisions, copied)
    return copied


@contextmanager
def _copy_lock(store_path: Path) -> Iterator[None]:
    """Let stores be imported one after another: two imports of one would hold it twice."""
    with open_lock(store_path / _LOCK) as file:
        busy = f"{store_path}: another store is being imported; try again when that ends"
        wait_for(file, fcntl.LOCK_EX, _WAIT_SECONDS, busy)
        yield


def _forgotten_there(batches: Batches) -> list[RunKey]:
    """Return the runs of this store that the other has forgotten and does not have."""
    tombstones = {tombstone.run for batch in batches.theirs for tombstone in batch.forgotten}
    theirs = {g.run for batch in batches.theirs for g in batch.generations}
    return sorted(run for run in batches.runs - theirs if content_hash("run", *run) in tombstones)


def _write(lake: Lake, other: OtherStore, decisions: Decisions, copied: StoreCopy) -> None:
    with lake.write("import") as writer:
        parts = Parts(other.batches, decisions, writer.name)
        rows = RowCopy(other, decisions, parts, writer)
        rows.copy()
        if written := parts.finished(rows.counts):
            writer.commit(parts=written)
    brought = {run for run in decisions.compared if decisions.brings(run)}
    copied.runs = decisions.taken | brought
    copied.n_results = rows.n_results
    copied.n_unchanged = len(decisions.compared) - len(copied.conflicts) - len(brought)
