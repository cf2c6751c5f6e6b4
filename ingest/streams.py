"""Streams logs of results into a batch: their rows are never all in memory.

A run that the lake does not have is written as its log is read. Of a run that it has, the ids
are collected first and compared; where something is to be added, the log is read again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.numbering import Records, number
from ingest.reconciliation import Outcome, conflict_message, next_generation
from warehouse.connection import open_in_memory
from warehouse.errors import BadInput
from warehouse.formats.prompt_files import SUITE
from warehouse.lake.batch import Generation
from warehouse.lake.contents import read_places
from warehouse.schemas import EVENTS, RESULTS, arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ingest.formats.openclaw.lines import LineBlock, LineReader
    from ingest.reading import Reject
    from warehouse.lake.batch import Batch, RunKey
    from warehouse.lake.lake import BatchWriter, Lake
    from warehouse.types import Row

_PLACES = pa.schema([("content_id", pa.string()), ("seq", pa.int64())])


@dataclass(frozen=True, slots=True)
class Log:
    """A log to be imported.

    Attributes:
        path: of the file.
        sha256: of its bytes.
        run_id: the run of records that name none.
        run_as: a new id for its one run.
        redact: mask what has the shape of a key.
        on_reject: is told each line that cannot be used.
        on_keys: is told the lines that hold something of a key's shape.
    """

    path: Path
    sha256: str
    run_id: str
    run_as: str | None
    redact: bool
    on_reject: Callable[[Reject], None]
    on_keys: Callable[[list[int]], None]


@dataclass(slots=True)
class RunOutcome:
    """What became of a run of a log.

    Attributes:
        outcome: how it ended.
        generation: that its rows belong to.
        n_records: results and events in the log.
        n_written: results that are new.
        message: why it was refused, for people.
        places: `content_id` and `seq` of all its records.
    """

    outcome: Outcome
    generation: Generation
    n_records: int = 0
    n_written: int = 0
    message: str = ""
    wanted: pa.Array | None = None
    places: list[pa.Table] = field(default_factory=list)


class Logs:
    """The logs of one import."""

    def __init__(
        self,
        lake: Lake,
        batches: Sequence[Batch],
        current: Mapping[RunKey, Generation],
        writer: BatchWriter,
        reader: LineReader,
    ) -> None:
        self._lake = lake
        self._batches = batches
        self._generations = dict(current)
        self._writer = writer
        self._reader = reader
        self._streamed: dict[RunKey, list[pa.Table]] = {}

    def add(self, log: Log, *, replace: bool) -> dict[str, RunOutcome]:
        """Import a log, and tell what became of each of its runs.

        Raises:
            BadInput: `run_as` with a log of several runs.
        """
        runs: dict[str, RunOutcome] = {}
        for run_id, records in self._records(log, is_first=True):
            run = runs.get(run_id) or runs.setdefault(run_id, self.begin(run_id))
            run.places.append(_places(records))
            run.n_records += len(records.results) + len(records.events)
            if run.outcome is Outcome.IMPORTED:
                self._write(log, run, records)
        for run_id, run in runs.items():
            if run.outcome is Outcome.UNCHANGED:
                self._compare(run, replace=replace)
            if run.outcome is not Outcome.CONFLICT:
                self._streamed.setdefault((SUITE, run_id), []).extend(run.places)
                self._generations[SUITE, run_id] = run.generation
        if any(run.wanted is not None for run in runs.values()):
            self._write_wanted(log, runs)
        return runs

    def has_rejects(self, path: Path) -> bool:
        """Tell whether a log has a line that cannot be used."""
        return any(block.rejects for block in self._reader.read(path))

    def begin(self, run_id: str) -> RunOutcome:
        """Give the outcome of a run before any record of it is read."""
        known = self._generations.get((SUITE, run_id))
        if known is None:
            return RunOutcome(Outcome.IMPORTED, Generation(SUITE, run_id))
        return RunOutcome(Outcome.UNCHANGED, known)

    def _records(self, log: Log, *, is_first: bool) -> Iterator[tuple[str, Records]]:
        blocks = self._reader.read(log.path, redact_keys=log.redact)
        told = _tell(blocks, log) if is_first else blocks
        seen: set[str] = set()
        for records in number(told, run_id=log.run_id):
            for run_id, part in _by_run(records):
                seen.add(run_id)
                if log.run_as is not None and len(seen) > 1:
                    raise BadInput("`--as` names one run, and these are several")
                yield log.run_as or run_id, part

    def _compare(self, run: RunOutcome, *, replace: bool) -> None:
        """Settle a run that is known: what it lacks, what it adds, and what is to be written."""
        before = read_places(self._lake, self._batches, run.generation.run)
        before = pa.concat_tables([before, *self._streamed.get(run.generation.run, [])])
        now = pa.concat_tables(run.places)
        n_missing = _n_not_in(before, now)
        n_new = _n_not_in(now, before)
        if not n_new and (not replace or not n_missing):
            return
        if not n_missing:
            run.outcome, run.wanted = Outcome.GROWN, _ids_to_write(now, before)
        elif replace:
            ids = now["content_id"].to_pylist()
            run.outcome, run.wanted = Outcome.REPLACED, now["content_id"]
            run.generation = next_generation(run.generation, ids)
            self._streamed.pop(run.generation.run, None)
        else:
            run.outcome = Outcome.CONFLICT
            run.message = conflict_message(run.generation.run_id, n_missing, n_new)

    def _write_wanted(self, log: Log, runs: Mapping[str, RunOutcome]) -> None:
        for run_id, records in self._records(log, is_first=False):
            run = runs[run_id]
            if run.wanted is not None:
                is_wanted = pc.is_in(records.results["content_id"], value_set=run.wanted)
                ids = pc.is_in(_event_ids(records), value_set=run.wanted).to_pylist()
                events = [e for e, keep in zip(records.events, ids, strict=True) if keep]
                self._write(log, run, Records(records.results.filter(is_wanted), events))

    def _write(self, log: Log, run: RunOutcome, records: Records) -> None:
        shared = {
            "suite": SUITE,
            "run_id": run.generation.run_id,
            "generation": run.generation.generation,
            "file_sha256": log.sha256,
        }
        if records.results.num_rows:
            self._writer.add_table(RESULTS, _completed(records.results, shared))
            run.n_written += records.results.num_rows
        self._writer.add(EVENTS, [_event_row(event, shared) for event in records.events])


def _tell(blocks: Iterator[LineBlock], log: Log) -> Iterator[LineBlock]:
    for block in blocks:
        for reject in block.rejects:
            log.on_reject(reject)
        if block.key_lines:
            log.on_keys(block.key_lines)
        yield block


def _by_run(records: Records) -> Iterator[tuple[str, Records]]:
    names = dict.fromkeys(records.results["run_id"].unique().to_pylist())
    names |= dict.fromkeys(event["run_id"] for event in records.events)
    if len(names) == 1:
        yield next(iter(names)), records
        return
    for name in names:
        results = records.results.filter(pc.equal(records.results["run_id"], name))
        yield name, Records(results, [e for e in records.events if e["run_id"] == name])


def _places(records: Records) -> pa.Table:
    events = pa.Table.from_pylist(
        [{name: event[name] for name in _PLACES.names} for event in records.events], _PLACES
    )
    if not records.results.num_rows:
        return events
    results = records.results.select(_PLACES.names).cast(_PLACES)
    # Copied: a slice of what DuckDB gave would keep all columns of it in memory.
    return pa.concat_tables([results.take(np.arange(len(results))), events])


def _event_row(event: Row, shared: dict[str, str]) -> dict[str, object]:
    # The line served to find the event's place among the results; `seq` keeps that place.
    return {**{key: value for key, value in event.items() if key != "line"}, **shared}


def _event_ids(records: Records) -> pa.Array:
    return pa.array([event["content_id"] for event in records.events], pa.string())


def _n_not_in(these: pa.Table, those: pa.Table) -> int:
    found = pc.is_in(these["content_id"], value_set=those["content_id"])
    return len(these) - int(pc.sum(found).as_py() or 0)


def _ids_to_write(now: pa.Table, before: pa.Table) -> pa.Array:
    """Give the ids that are new, or stand at a later place than in a smaller part of the log."""
    with open_in_memory() as connection:
        connection.register("now", now)
        connection.register("before", before)
        return (
            connection.sql(
                """
                SELECT now.content_id
                FROM now LEFT JOIN before ON now.content_id = before.content_id
                GROUP BY now.content_id
                HAVING coalesce(max(before.seq), 0) < max(now.seq)
                """
            )
            .to_arrow_table()["content_id"]
            .combine_chunks()
        )


def _completed(results: pa.Table, shared: Mapping[str, str]) -> pa.Table:
    schema = arrow_schema(RESULTS)
    columns = []
    for column in schema:
        if column.name in shared:
            columns.append(pa.repeat(pa.scalar(shared[column.name], column.type), len(results)))
        elif column.name in results.column_names:
            columns.append(results[column.name])
        else:
            columns.append(pa.nulls(len(results), column.type))
    return pa.Table.from_arrays(columns, schema=schema)
