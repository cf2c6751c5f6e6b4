"""Decides, for each run of another store, what an import takes of it.

A batch that both stores have, by its name, is the same batch. A run whose batches here are all in
the other store as well is taken as it is: the other store only knows more about it, a replacement
included. A run that both have from different batches is compared row by row, as a log is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.reading import Reading
from ingest.reconciliation import FileOutcome, reconcile
from warehouse.core.formats.values import import_pyarrow
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import BATCH, TABLES
from warehouse.lake.batch import current_generations
from warehouse.lake.compaction import rows_of
from warehouse.lake.contents import read_contents

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from ingest.reconciliation import Reconciled
    from warehouse.core.schemas import Table
    from warehouse.core.types import Row
    from warehouse.lake.batch import Batch, Generation, RunKey
    from warehouse.lake.lake import Lake

_Pair = tuple[str, "Generation"]
_DIFFERS = "'"


@dataclass(slots=True)
class Decisions:
    """What to do with the runs of another store that are not wholly here.

    Attributes:
        taken: runs whose rows are copied as they are.
        compared: runs that both stores have from different batches, with what is new in them.
        forgotten: runs that were forgotten here, and stay so.
        missing: of the runs that are taken: batch and generation of rows that this store lacks,
            though it has the batch.
    """

    taken: set[RunKey] = field(default_factory=set)
    compared: dict[RunKey, Reconciled] = field(default_factory=dict)
    forgotten: set[RunKey] = field(default_factory=set)
    missing: set[_Pair] = field(default_factory=set)

    def takes(self, run: RunKey) -> bool:
        """Return whether the rows of a run are copied as they are."""
        return run in self.taken

    def refuses(self, run: RunKey) -> bool:
        """Return whether a run is kept out, with what was recorded about it, such as its tags."""
        compared = self.compared.get(run)
        is_conflict = compared is not None and compared.outcome is FileOutcome.CONFLICT
        return run in self.forgotten or is_conflict

    @property
    def refuses_any(self) -> bool:
        """Whether any run is kept out."""
        return any(map(self.refuses, (*self.forgotten, *self.compared)))

    def brings(self, run: RunKey) -> bool:
        """Return whether anything of a run is imported."""
        compared = self.compared.get(run)
        return run in self.taken or (compared is not None and bool(compared.rows))


def decide(lake: Lake, other: Lake, batches: Batches, *, replace: bool, restore: bool) -> Decisions:
    """Decide what to import of each run that the other store has and this one lacks in part.

    Args:
        lake: the lake to import into.
        other: the lake of the other store.
        batches: the batches of both.
        replace: whether a conflicting run opens a new generation.
        restore: whether forgotten runs come back.

    Raises:
        StoreDamaged: a file of either lake cannot be read.
    """
    decisions = Decisions()
    ours, theirs = _pairs(batches.ours), _pairs(batches.theirs, batches.differing)
    diverged: list[RunKey] = []
    for run, pairs in theirs.items():
        held = ours.get(run, set())
        if pairs <= held:
            continue
        if not held and not restore and batches.is_forgotten(run):
            decisions.forgotten.add(run)
        elif held <= pairs:
            decisions.taken.add(run)
            decisions.missing |= {
                (known, generation)
                for name, generation in pairs - held
                if (known := name.rstrip(_DIFFERS)) in batches.known
            }
        else:
            diverged.append(run)
    contents = read_contents(lake, batches.ours, diverged)
    for run in diverged:
        reading = Reading("store", rows=_current_rows(other, batches.theirs, run), run=run)
        compared = reconcile(reading, contents, replace=False)
        # Not at once with `replace`: a run that is merely behind ours must not replace it.
        if replace and compared.outcome is FileOutcome.CONFLICT:
            compared = reconcile(reading, contents, replace=True)
        decisions.compared[run] = compared
    return decisions


@dataclass(frozen=True)
class Batches:
    """The batches of two stores.

    Attributes:
        ours: those of this store.
        theirs: those of the other.
    """

    ours: Sequence[Batch]
    theirs: Sequence[Batch]

    @cached_property
    def known(self) -> dict[str, Batch]:
        """The batches of this store, by name."""
        return {batch.name: batch for batch in self.ours}

    @cached_property
    def new(self) -> list[Batch]:
        """The batches that only the other store has."""
        known = self.known
        return [batch for batch in self.theirs if batch.name not in known]

    @cached_property
    def differing(self) -> frozenset[str]:
        """The names of batches that both stores have, but wrote with other bytes.

        Two copies of a store may each recover the same journal, with different libraries.
        """
        known = self.known
        return frozenset(
            batch.name
            for batch in self.theirs
            if batch.name in known and _differ(batch, known[batch.name])
        )

    @cached_property
    def runs(self) -> set[RunKey]:
        """The runs of this store."""
        return {g.run for batch in self.ours for g in batch.generations}

    @cached_property
    def forgotten_files(self) -> set[str]:
        """Hashes of the files that were forgotten in this store and not restored since."""
        restored = {sha256 for batch in self.ours for sha256 in batch.restored}
        tombstones = (tombstone for batch in self.ours for tombstone in batch.forgotten)
        return {sha256 for tombstone in tombstones for sha256 in tombstone.files} - restored

    @cached_property
    def tombstones(self) -> set[str]:
        """Hashes of the runs that were forgotten in this store."""
        return {tombstone.run for batch in self.ours for tombstone in batch.forgotten}

    def is_forgotten(self, run: RunKey) -> bool:
        """Return whether this store has a record that the run, or a file of it, was forgotten."""
        return content_hash("run", *run) in self.tombstones or not self.forgotten_files.isdisjoint(
            source.sha256
            for batch in self.theirs
            for source in batch.sources
            if any(g.run == run for g in source.generations)
        )


def _differ(one: Batch, other: Batch) -> bool:
    if one.rewritten_by is not None or other.rewritten_by is not None:
        return False  # some rows were removed from it
    return one.files != other.files


def _pairs(
    batches: Iterable[Batch], differing: frozenset[str] = frozenset()
) -> dict[RunKey, set[_Pair]]:
    """Return the batch and generation of the rows of each run; batches that differ get a mark."""
    pairs: dict[RunKey, set[_Pair]] = {}
    for batch in batches:
        name = batch.name + _DIFFERS if batch.name in differing else batch.name
        for generation in batch.generations:
            pairs.setdefault(generation.run, set()).add((name, generation))
    return pairs


def _current_rows(lake: Lake, batches: Iterable[Batch], run: RunKey) -> dict[str, Sequence[Row]]:
    """Return the rows of a run's current generation by table, each content id once."""
    parts = [batch for batch in batches if any(g.run == run for g in batch.generations)]
    current = current_generations(g for part in parts for g in part.generations if g.run == run)
    folders = [lake.read(name) for name in sorted({part.folder for part in parts})]
    rows: dict[str, Sequence[Row]] = {"runs": []}
    for table in TABLES:
        found = [
            row
            for folder in folders
            if table.of_run and table.name in folder.files
            for row in _of_generation(rows_of(lake, folder, table), current[run]).to_pylist()
        ]
        if found:
            rows[table.name] = _each_once(found, table)
    return rows


def _of_generation(rows: pa.Table, generation: Generation) -> pa.Table:
    import pyarrow.compute as pc

    pa = import_pyarrow()
    is_wanted = pa.scalar(value=True)
    for name in ("suite", "run_id", "generation"):
        is_wanted = pc.and_(is_wanted, pc.equal(rows[name], getattr(generation, name)))
    return rows.filter(is_wanted)


def _each_once(rows: list[Row], table: Table) -> list[Row]:
    """Return one row for each content id, that of the longest source, as the warehouse has it."""
    longest = [name for name in ("seq", "source_rows") if name in table.column_names]
    rows.sort(key=lambda row: row[BATCH])
    rows.sort(key=lambda row: [row[name] or 0 for name in longest], reverse=True)
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row["content_id"], {k: v for k, v in row.items() if k != BATCH})
    return sorted(first.values(), key=lambda row: row.get("seq") or 0)


def conflicts(decisions: Decisions) -> list[tuple[RunKey, str]]:
    """Return the runs that conflict, each with why."""
    return [
        (run, compared.message)
        for run, compared in sorted(decisions.compared.items())
        if compared.outcome is FileOutcome.CONFLICT
    ]
