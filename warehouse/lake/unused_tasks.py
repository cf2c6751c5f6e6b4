"""The tasks that only a forgotten run used: their prompts are part of its text."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.core.formats.values import import_pyarrow
from warehouse.core.schemas import ANNOTATIONS, BATCH, RESULTS, TASKS
from warehouse.lake.compaction import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from warehouse.core.schemas import Table
    from warehouse.lake.batch import Batch, RunKey
    from warehouse.lake.lake import Lake

_VERSION = ("suite", "task_set", "task_set_hash")
_TASK = ("task_id", "task_hash")

# Values of `_VERSION`; and the suite, id and hash of a task, the hash None where it is not known.
_Key = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class UnusedTasks:
    """Rows of table `tasks`: those of some versions of task sets in some batches.

    Attributes:
        batches: names of the batches.
        versions: suite, name and hash of the task sets.
    """

    batches: frozenset[str]
    versions: frozenset[_Key]

    def without(self, rows: pa.Table) -> pa.Table:
        """Return the rows of table `tasks` that are not among these."""
        pa = import_pyarrow()
        columns = (*_VERSION, "file_sha256", BATCH)
        keys = zip(*(rows[name].to_pylist() for name in columns), strict=True)
        kept = [
            sha256 is not None or batch not in self.batches or tuple(version) not in self.versions
            for *version, sha256, batch in keys
        ]
        return rows.filter(pa.array(kept, pa.bool_()))


def unused_tasks(lake: Lake, folders: Sequence[Batch], run: RunKey) -> UnusedTasks:
    """Return the tasks that were stored with a run and that no other run or annotation uses.

    Tasks from a task file are not among them. Other runs of ours have tasks of their own; an
    imported run may need those of this one, so a version stays if it has a task that no other has.
    """
    batches = frozenset(
        part.name
        for folder in folders
        for part in folder.contents
        if part.command == "run" and {g.run for g in part.generations} == {run}
    )
    if not batches:  # an imported run: nothing to look for
        return UnusedTasks(batches, frozenset())
    candidates: dict[_Key, set[_Key]] = {}
    others: set[_Key] = set()
    for suite, task_set, digest, task, task_hash, sha256, batch in _rows(
        lake, folders, TASKS, (*_VERSION, *_TASK, "file_sha256", BATCH)
    ):
        keys: tuple[_Key, ...] = ((suite, task, task_hash), (suite, task, None))
        for key in keys:
            if sha256 is None and batch in batches:
                candidates.setdefault(key, set()).add((suite, task_set, digest))
            else:
                others.add(key)
    versions = {version for found in candidates.values() for version in found}
    if versions:
        for key in _used(lake, folders, run) - others:
            versions -= candidates.get(key, set())
    return UnusedTasks(batches, frozenset(versions))


def _used(lake: Lake, folders: Sequence[Batch], run: RunKey) -> set[_Key]:
    """Return the tasks that the other runs and the annotations use."""
    columns = ("suite", "run_id", *_TASK)
    results = _rows(lake, folders, RESULTS, columns)
    used = {(suite, task, digest) for suite, id_, task, digest in results if (suite, id_) != run}
    annotations = _rows(lake, folders, ANNOTATIONS, ("suite", "task_id"))
    return used | {(suite, task, None) for suite, task in annotations}


def _rows(
    lake: Lake, folders: Iterable[Batch], table: Table, columns: tuple[str, ...]
) -> Iterator[_Key]:
    """Yield the distinct values of some columns in all batches that can be read."""
    pa = import_pyarrow()
    for folder in folders:
        if table.name in folder.files:
            # A damaged batch of ours has its own tasks.
            with suppress(OSError, ValueError, pa.ArrowException):
                rows = rows_of(lake, folder, table, columns)
                distinct = rows.group_by(list(columns)).aggregate([])
                yield from zip(*(distinct[name].to_pylist() for name in columns), strict=True)
