"""Adds readings that are held in memory to the batch: what of them is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.reconciliation import Outcome, settle
from warehouse.lake.contents import read_contents
from warehouse.schemas import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.reading import Reading, SourceFile
    from ingest.session import Ledger
    from warehouse.lake.batch import RunKey
    from warehouse.lake.contents import RunContent
    from warehouse.lake.lake import Lake


class Readings:
    """The readings of an import, compared with what the lake and this import hold so far."""

    def __init__(self, lake: Lake, ledger: Ledger) -> None:
        self._lake = lake
        self._ledger = ledger
        self._contents: dict[RunKey, RunContent] = {}

    def add(self, readings: Sequence[tuple[SourceFile, Reading]]) -> None:
        """Settle readings, and write what of them is new.

        Args:
            readings: each with the file that it is of; the hash stands for all of it.
        """
        runs = {reading.run for _, reading in readings if reading.run is not None}
        unknown = runs - self._contents.keys()
        self._contents |= read_contents(self._lake, self._ledger.batches, unknown)
        for file, reading in readings:
            if self._ledger.options.strict and (reading.violations or reading.rejects):
                self._ledger.refuse(file, reading)
            else:
                self._add(file, reading)

    def _add(self, file: SourceFile, reading: Reading) -> None:
        ledger = self._ledger
        settled = settle(reading, self._contents, replace=ledger.options.replace)
        ledger.count(settled.outcome)
        if settled.outcome is Outcome.CONFLICT:
            ledger.say(file.path, settled.message)
        ledger.say_rejects(file.path, reading.rejects)
        if settled.outcome in {Outcome.CONFLICT, Outcome.UNCHANGED}:
            return
        generations = (settled.generation,) if settled.generation is not None else ()
        if not ledger.note_source(file, generations, is_clean=not reading.rejects):
            return
        for table, rows in settled.rows.items():
            ledger.writer.add(BY_NAME[table], rows)
        ledger.write_provenance(file, reading, files=reading.files or [file])
        if settled.generation is not None:
            ledger.count_run(settled.generation.run, len(settled.rows.get("results", ())))
