"""The descriptions of the batches that an import of a store writes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ulid import ULID

from warehouse.core.hashing import content_hash
from warehouse.core.schemas import BY_NAME
from warehouse.lake.batch import Batch, BatchFile, evalstore_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ingest.stores.decisions import Batches, Decisions
    from warehouse.lake.batch import Generation, Source, Tombstone


class Parts:
    """The batches of one import: those of the other store, and one for rows of known batches.

    Attributes:
        extra: name of the batch for rows that cannot keep the name of theirs, because this store
            has that batch without them.
        dropped_files: hashes of the files that fed only runs that are not imported.
    """

    def __init__(self, batches: Batches, decisions: Decisions, folder: str) -> None:
        self.extra = str(ULID())
        self._batches = batches
        self._decisions = decisions
        self._folder = folder
        self.dropped_files = frozenset(
            source.sha256
            for batch in batches.theirs
            for source in batch.sources
            if source.generations
            and not any(decisions.brings(g.run) or self._is_held(g) for g in source.generations)
        )

    def _is_held(self, generation: Generation) -> bool:
        """Return whether a run has no decision, because this store has all of it."""
        run = generation.run
        return run not in self._decisions.forgotten and run not in self._decisions.compared

    def finished(self, counts: Mapping[str, Counter[str]]) -> list[Batch]:
        """Return the batches that were written.

        Args:
            counts: the number of rows written, by batch and table.
        """
        parts = [self._part(batch, counts) for batch in self._batches.new]
        return [*parts, *self._extra_part(counts)]

    def _part(self, batch: Batch, counts: Mapping[str, Counter[str]]) -> Batch:
        left = counts.get(batch.name, Counter())
        files = {
            name: replace(file, rows=left[name])
            for name, file in batch.files.items()
            if name in BY_NAME and left.get(name)
        }
        generations = tuple(g for g in batch.generations if self._decisions.takes(g.run))
        sources = tuple(filter(None, (self._source(each) for each in batch.sources)))
        is_changed = files != batch.files or generations != batch.generations
        return replace(
            batch,
            files=files,
            generations=generations,
            sources=sources,
            forgotten=tuple(self._tombstones(batch)),
            restored=tuple(self._restored(batch, sources)),
            merged_into=self._folder,
            rewritten_by=self._folder if is_changed else batch.rewritten_by,
            replaces=(),
            parts=(),
        )

    def _source(self, source: Source) -> Source | None:
        """Return a source with the runs that are copied; None if it fed only others."""
        generations = tuple(g for g in source.generations if self._decisions.takes(g.run))
        return (
            None
            if source.generations and not generations
            else replace(source, generations=generations)
        )

    def _tombstones(self, batch: Batch) -> Iterator[Tombstone]:
        """Yield what was forgotten there, but not the runs that this store has."""
        held = {content_hash("run", *run) for run in self._batches.runs}
        return (tombstone for tombstone in batch.forgotten if tombstone.run not in held)

    def _restored(self, batch: Batch, sources: Iterable[Source]) -> Iterator[str]:
        """Yield the files that come back; not those that were forgotten here and stay so."""
        forgotten = self._batches.forgotten_files
        yield from (sha256 for sha256 in batch.restored if sha256 not in forgotten)
        yield from sorted({source.sha256 for source in sources} & forgotten)

    def _extra_part(self, counts: Mapping[str, Counter[str]]) -> Iterator[Batch]:
        left = counts.get(self.extra)
        if not left:
            return
        sources = tuple(dict.fromkeys(self._extra_sources()))
        generations = [
            *(g for source in sources for g in source.generations),
            *(g for _, g in sorted(self._decisions.missing, key=repr)),
            *(c.generation for c in self._decisions.compared.values() if c.rows and c.generation),
        ]
        yield Batch(
            name=self.extra,
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            command="import",
            version=evalstore_version(),
            files={
                name: BatchFile(count, content_hash("copied", self.extra, name))
                for name, count in left.items()
            },
            generations=tuple(dict.fromkeys(generations)),
            sources=sources,
            restored=tuple(
                sorted({source.sha256 for source in sources} & self._batches.forgotten_files)
            ),
            merged_into=self._folder,
        )

    def _extra_sources(self) -> Iterator[Source]:
        """Yield the files that fed rows of the extra batch, with the generations they have here."""
        for batch in self._batches.theirs:
            for source in batch.sources:
                compared = (self._decisions.compared.get(g.run) for g in source.generations)
                generations = [c.generation for c in compared if c and c.rows and c.generation]
                generations += [
                    g for g in source.generations if (batch.name, g) in self._decisions.missing
                ]
                if generations:
                    yield replace(source, generations=tuple(dict.fromkeys(generations)))
