"""The removal of a run: the only operation that removes anything from the lake.

The batches that hold the run are rewritten without it, with a tombstone of hashes, and the old
ones are removed. The caller rebuilds the warehouse too, because a database file keeps the text of
deleted rows in its free blocks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.errors import BadInput, StoreDamaged
from warehouse.core.formats.values import import_pyarrow
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import BATCH, BY_NAME, TASKS
from warehouse.core.suggestions import did_you_mean
from warehouse.lake.batch import Tombstone
from warehouse.lake.compaction import parts_in, rows_of
from warehouse.lake.locks import shared_lake_lock
from warehouse.lake.unused_tasks import unused_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from warehouse.core.schemas import Table
    from warehouse.lake.batch import Batch, RunKey, Source
    from warehouse.lake.lake import Lake
    from warehouse.lake.unused_tasks import UnusedTasks


def find_run(lake: Lake, run_id: str, suite: str | None = None) -> RunKey:
    """Return the only run with an id.

    Raises:
        BadInput: no run has it, or runs of several suites have it and no suite is given.
    """
    with shared_lake_lock(lake.store_path):
        suites = lake.register().suites(run_id)
        runs = {(each, run_id) for each in suites if suite in (None, each)}
        batches = [] if runs else lake.current()
    if not runs:
        generations = (g for batch in batches for g in batch.generations)
        known = sorted({g.run_id for g in generations if suite in (None, g.suite)})
        hint = did_you_mean(run_id, known, "`evalstore runs` lists the runs")
        raise BadInput(f"there is no run {run_id!r}; {hint}")
    if len(runs) > 1:
        named = ", ".join(sorted(suites))
        raise BadInput(f"run {run_id!r} is in several suites ({named}): choose one with --suite")
    return runs.pop()


def forget(lake: Lake, run: RunKey) -> int:
    """Remove every generation of a run, and everything kept of the files it was imported from.

    Its tags, re-scores and the ratings of it in other runs go too, and tasks that were stored with
    it and that no other run uses.

    A file that also fed other runs stays listed as their source, without its bytes. If the process
    is killed, the same call completes the work. Return the number of rewritten batches.

    Raises:
        EvalstoreError: a batch could not be written.
        StoreBusy: the lake is being read.
    """
    with lake.rewriting():
        folders = lake.folders()
        batches = [batch for folder in folders for batch in folder.contents]
        about = _rows_about(lake, folders, run)
        files = {s.sha256 for b in batches for s in b.sources if _feeds(s, run)} | about.files
        tombstone = Tombstone(content_hash("run", *run), tuple(sorted(files)))
        unused = unused_tasks(lake, folders, run)
        removal = _Removal(run, tombstone, unused, about.batches)
        affected = [folder for folder in folders if any(map(removal.affects, folder.contents))]
        for folder in affected:
            _rewrite(lake, folder, removal)
        lake.remove_replaced()
    return len(affected)


def _feeds(source: Source, run: RunKey) -> bool:
    return any(g.run == run for g in source.generations)


@dataclass(frozen=True, slots=True)
class _Removal:
    """What is removed.

    Attributes:
        run: the run.
        tombstone: what stays in its place.
        unused: the tasks that only this run used.
        about: names of batches with rows about the run, such as its tags or ratings of it.
    """

    run: RunKey
    tombstone: Tombstone
    unused: UnusedTasks
    about: frozenset[str]

    def affects(self, batch: Batch) -> bool:
        """Return whether something of a batch is removed."""
        has_run = any(g.run == self.run for g in batch.generations)
        has_file = any(s.sha256 in self.tombstone.files for s in batch.sources)
        return has_run or has_file or batch.name in self.about


class _About(NamedTuple):
    """Rows of other runs, or of none, that are about a run: its tags, or ratings of its results.

    Attributes:
        batches: names of the batches that have any.
        files: SHA-256 of the imported files that they came from.
    """

    batches: frozenset[str]
    files: frozenset[str]


def _rows_about(lake: Lake, folders: Iterable[Batch], run: RunKey) -> _About:
    """Find the rows about a run.

    Raises:
        StoreDamaged: a file that may have such rows cannot be read.
    """
    pa = import_pyarrow()
    batches, files = set[str](), set[str]()
    for folder in folders:
        for table in (BY_NAME[name] for name in folder.files):
            if not table.about:
                continue
            named = {column for pair in table.runs_named for column in pair}
            source = {"file_sha256"} & set(table.column_names)
            try:
                rows = rows_of(lake, folder, table, (*sorted(named | source), BATCH))
            except (OSError, ValueError, pa.ArrowException) as error:
                path = lake.file(folder, table.name)
                raise StoreDamaged(
                    f"{path}: cannot be read, so it may name the run; restore the file from a "
                    "backup, or remove its batch"
                ) from error
            rows = rows.filter(_is_about(rows, table, run))
            batches.update(rows[BATCH].to_pylist())
            files.update(*(filter(None, rows[name].to_pylist()) for name in source))
    return _About(frozenset(batches), frozenset(files))


def _rewrite(lake: Lake, folder: Batch, removal: _Removal) -> None:
    lake.verify(folder)
    with lake.write("forget") as writer:
        rows_left: dict[str, Counter[str]] = {}
        for name in folder.files:
            table = BY_NAME[name]
            rows = _without(rows_of(lake, folder, table), table, removal)
            if table is TASKS:
                rows = removal.unused.without(rows)
            rows_left[name] = Counter(rows[BATCH].to_pylist())
            if rows.num_rows:
                writer.add_table(table, rows)
        parts = [
            _without_run(part, removal.run, removal.tombstone) if removal.affects(part) else part
            for part in parts_in(folder, writer)
        ]
        writer.commit(
            replaces=[*folder.replaces, folder.name],
            parts=[_with_rows(part, rows_left) for part in parts],
        )


def _without_run(part: Batch, run: RunKey, tombstone: Tombstone) -> Batch:
    return replace(
        part,
        rewritten_by=part.merged_into,
        generations=tuple(g for g in part.generations if g.run != run),
        sources=tuple(s for s in part.sources if s.sha256 not in tombstone.files),
        forgotten=(*part.forgotten, tombstone),
        restored=tuple(sha256 for sha256 in part.restored if sha256 not in tombstone.files),
    )


def _with_rows(part: Batch, rows_left: Mapping[str, Counter[str]]) -> Batch:
    """Return a part with the number of rows left in each of its tables."""
    left = {name: rows_left[name][part.name] for name in part.files}
    return replace(
        part, files={name: replace(part.files[name], rows=n) for name, n in left.items() if n}
    )


def _without(rows: pa.Table, table: Table, removal: _Removal) -> pa.Table:
    """Drop the rows of a run and about it, and other rows from the files it was imported from."""
    import pyarrow.compute as pc

    if table.runs_named:
        return rows.filter(pc.invert(_is_about(rows, table, removal.run)))
    column = "sha256" if "sha256" in table.column_names else None
    return rows if column is None else rows.filter(_not_in(rows[column], removal.tombstone.files))


def _is_about(rows: pa.Table, table: Table, run: RunKey) -> pa.ChunkedArray:
    """Return which rows are of a run, or about it."""
    import pyarrow.compute as pc

    return reduce(
        pc.or_,
        (
            pc.and_(
                pc.equal(pc.coalesce(rows[suite], rows["suite"]), run[0]),
                pc.equal(pc.coalesce(rows[run_id], rows["run_id"]), run[1]),
            )
            for suite, run_id in table.runs_named
        ),
    )


def _not_in(column: pa.ChunkedArray, values: Iterable[str]) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.invert(pc.is_in(column, value_set=pa.array(sorted(values), pa.string())))
