"""Imports streamed readings, whose rows are never all in memory.

A new run is written while its stream is read. For a run that the lake has, the content ids are
collected and compared first; if there are new rows, the stream is read again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.provenance import log_row, quarantine_row
from ingest.reading import SourceFile
from ingest.reconciliation import FileOutcome
from ingest.streamed_runs import (
    Places,
    RowBuffer,
    StreamedRun,
    as_table,
    check_columns,
    filtered,
    header_of,
    is_bare,
)
from warehouse.core.errors import BadInput
from warehouse.core.formats.values import import_pyarrow
from warehouse.core.schemas import BY_NAME, FILES, QUARANTINE
from warehouse.lake.batch import Generation
from warehouse.lake.contents import read_added, read_positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ingest.reading import Block, Reading, Stream
    from ingest.session import ImportSession
    from ingest.streamed_runs import Rows
    from warehouse.core.types import Row
    from warehouse.lake.batch import RunKey
    from warehouse.lake.lake import Lake

# The outcome of a file with several runs is the one that comes first here.
_SEVERITY_ORDER = (
    FileOutcome.CONFLICT,
    FileOutcome.REPLACED,
    FileOutcome.GROWN,
    FileOutcome.IMPORTED,
    FileOutcome.UNCHANGED,
    FileOutcome.QUARANTINED,
)
_NOT_WRITTEN = {FileOutcome.CONFLICT, FileOutcome.UNCHANGED}
_MESSAGES_PER_FILE = 50


@dataclass(slots=True, kw_only=True)
class StreamedReading:
    """A reading with a stream.

    Attributes:
        file: the file or folder, with one hash of all its content.
        reading: the reading, for what is outside the stream.
        stream: the reading's stream.
        hashes: SHA-256 of each file of the stream.
        contents: the bytes of its small files.
        runs: runs by id, as far as the stream was read.
        has_other_rows: whether the stream has rows that belong to no run.
    """

    file: SourceFile
    reading: Reading
    stream: Stream
    hashes: Mapping[Path, str]
    contents: Mapping[Path, bytes]
    runs: dict[str, StreamedRun] = field(default_factory=dict)
    has_other_rows: bool = False


class StreamImport:
    """The streamed readings of one import."""

    def __init__(self, lake: Lake, session: ImportSession) -> None:
        self._lake = lake
        self._session = session
        # Of the runs that this import has added to.
        self._generations: dict[RunKey, Generation] = {}
        self._places: dict[RunKey, Places] = {}
        self._buffer = RowBuffer(session.writer)
        import_pyarrow()

    def add(self, streamed: StreamedReading) -> None:
        """Import a reading.

        Raises:
            BadInput: `run_as` was given and the stream has several runs.
        """
        session, reading = self._session, streamed.reading
        if session.options.strict and (
            self._is_refused(streamed)
            or (not reading.is_restated and session.is_unchanged(streamed.file))
        ):
            return
        n_before, n_violations = session.summary.n_quarantined, session.summary.n_violations
        is_new = self._is_new_run(streamed)
        if is_new:
            # Files take much memory to write: now, before the rows of the stream do.
            self._write_logs(streamed)
        self._read_runs(streamed)
        session.rename_run(reading)
        rows = self._rows(streamed)
        is_clean = session.summary.n_quarantined == n_before and not reading.rejects
        session.report_rejects(streamed.file.path, reading.rejects)
        grown = (r.generation.run for r in streamed.runs.values() if r.outcome is FileOutcome.GROWN)
        session.count(_file_outcome(streamed, is_clean=is_clean), grown)
        for run in streamed.runs.values():
            if run.message:
                session.say(streamed.file.path, run.message)
        written = [run for run in streamed.runs.values() if run.outcome not in _NOT_WRITTEN]
        # Including unchanged runs, which identify the same file with the same faults.
        known = [run for run in streamed.runs.values() if run.outcome is not FileOutcome.CONFLICT]
        generations = [run.generation for run in known]
        is_noted = not is_clean or session.summary.n_violations > n_violations
        if not is_noted and not written and not streamed.has_other_rows:
            return
        if not session.sources.add(streamed.file, generations, is_clean=is_clean):
            return
        for name, given in rows.items():
            session.writer.add(BY_NAME[name], given)
        others = [file for file in reading.files if file.path not in streamed.hashes]
        session.write_provenance(streamed.file, reading, files=others)
        if not is_new:
            self._write_logs(streamed)
        for run in written:
            session.count_run(run.generation.run, run.n_results)

    def finish(self) -> None:
        """Write the rows that are still buffered."""
        self._buffer.flush()

    def _is_new_run(self, streamed: StreamedReading) -> bool:
        """Return whether the stream is of a run that the lake lacks: all of it will be written."""
        if streamed.reading.run is None or not streamed.stream.is_run:
            return False
        suite, run_id = streamed.reading.run
        return self._current((suite, self._session.options.run_as or run_id)) is None

    def _current(self, run: RunKey) -> Generation | None:
        return self._generations.get(run) or self._session.register.generation(run)

    def _write_logs(self, streamed: StreamedReading) -> None:
        for path, sha256 in streamed.hashes.items():
            row = log_row(
                path,
                sha256,
                streamed.reading.format,
                is_masked=self._session.options.redact,
                is_kept=not streamed.stream.has_traces,
                data=streamed.contents.get(path),
            )
            self._session.writer.add(FILES, [row])
        import_pyarrow().default_memory_pool().release_unused()

    def _is_refused(self, streamed: StreamedReading) -> bool:
        is_bad = bool(streamed.reading.violations or streamed.reading.rejects)
        if not is_bad and not any(b.rejects or b.violations for b in streamed.stream.blocks()):
            return False
        self._session.refuse(streamed.file, streamed.reading)
        if not is_bad:
            self._session.say(streamed.file.path, "has records that are unusable or break a rule")
        return True

    def _read_runs(self, streamed: StreamedReading) -> None:
        """Read the stream, and write what the lake lacks."""
        runs, suite = streamed.runs, _suite(streamed)
        problems = _Problems(self._session, streamed)
        for run_id, path, rows in self._rows_of(problems.recorded(streamed.stream.blocks())):
            shared = {"file_sha256": streamed.hashes[path]}
            if run_id is None:
                streamed.has_other_rows = True
                self._write(rows, shared)
                continue
            if run_id not in runs:
                runs[run_id] = self._begin((suite, run_id))
            runs[run_id].add(rows)
            if runs[run_id].outcome is FileOutcome.IMPORTED:
                self._write(rows, shared, runs[run_id])
        for run in runs.values():
            self._settle(run, streamed.stream)
        if any(run.wanted is not None for run in runs.values()):
            for run_id, path, rows in self._rows_of(streamed.stream.blocks()):
                if run_id is not None and runs[run_id].wanted is not None:
                    self._write(rows, {"file_sha256": streamed.hashes[path]}, runs[run_id])
        self._begin_empty_run(streamed)

    def _rows_of(
        self, blocks: Iterable[Block]
    ) -> Iterator[tuple[str | None, Path, dict[str, Rows]]]:
        """Yield run id, file and rows of the blocks, with the id renamed if an id was given."""
        run_as = self._session.options.run_as
        seen: set[str] = set()
        for block in blocks:
            rows = {name: given for name, given in block.rows.items() if len(given)}
            if not rows:
                continue
            for name, given in rows.items():
                check_columns(given, BY_NAME[name])
            run_id = block.run_id
            if run_as is not None and run_id is not None:
                seen.add(run_id)
                if len(seen) > 1:
                    raise BadInput("`--as` takes a single run; this log has several")
                run_id = run_as
            yield run_id, block.path, rows

    def _begin(self, run: RunKey) -> StreamedRun:
        known = self._current(run)
        if known is None:
            return StreamedRun(outcome=FileOutcome.IMPORTED, generation=Generation(*run))
        return StreamedRun(outcome=FileOutcome.UNCHANGED, generation=known)

    def _begin_empty_run(self, streamed: StreamedReading) -> None:
        """Begin the run of a folder or log that has no results yet."""
        is_run = streamed.stream.is_run or bool(streamed.reading.files)
        if streamed.reading.run is None or not is_run:
            return
        suite, run_id = streamed.reading.run
        run_id = self._session.options.run_as or run_id
        if run_id not in streamed.runs:
            streamed.runs[run_id] = self._begin((suite, run_id))

    def _settle(self, run: StreamedRun, stream: Stream) -> None:
        """Compare a run with its rows in the lake and in this import."""
        key = run.generation.run
        if run.outcome is FileOutcome.UNCHANGED:
            tables = [BY_NAME[name] for name in stream.tables if BY_NAME[name].of_run]
            before = Places()
            batches = self._session.register.holding([key])
            for name, rows in read_positions(self._lake, batches, key, tables).items():
                before.add_rows(name, rows)
            before.add(self._places.get(key, Places()))
            before = before.beginning_with(stream.parts)
            run.compare(
                before,
                replace=self._session.options.replace,
                is_part=bool(stream.parts),
                is_open=stream.is_open,
            )
        if run.outcome is FileOutcome.REPLACED:
            self._places.pop(key, None)
        if run.outcome is not FileOutcome.CONFLICT:
            self._places.setdefault(key, Places()).add(run.places)
            self._generations[key] = run.generation

    def _write(
        self,
        rows: Mapping[str, Rows],
        shared: Mapping[str, str],
        run: StreamedRun | None = None,
    ) -> None:
        for name, given in rows.items():
            table = BY_NAME[name]
            wanted, columns = given, dict(shared)
            if run is not None and table.of_run:
                columns |= run.columns
                if run.wanted is not None:
                    wanted = filtered(as_table(given, table), run.wanted.get(name))
            if len(wanted):
                self._buffer.add(table, wanted, columns)
            if run is not None and name == "results":
                run.count_results(wanted)

    def _rows(self, streamed: StreamedReading) -> dict[str, list[Row]]:
        """Return the rows outside the stream: all of a new run, else those that the lake lacks."""
        given = streamed.reading.rows
        rows: dict[str, list[Row]] = {name: [] for name in ("runs", *given)}
        for run_id, run in streamed.runs.items():
            own: dict[str, Sequence[Row]] = {
                name: [row for row in of_table if row.get("run_id") == run_id]
                for name, of_table in given.items()
                if BY_NAME[name].of_run
            }
            headers = own.get("runs", ())
            own["runs"] = [header_of(run, headers or [streamed.stream.header])]
            if run.outcome is FileOutcome.UNCHANGED:
                tables = [BY_NAME[name] for name in own]
                key = run.generation.run
                batches = self._session.register.holding([key])
                known = read_added(self._lake, batches, key, tables)
                for name, of_table in own.items():
                    own[name] = [row for row in of_table if (name, row["content_id"]) not in known]
                # What the stream says of all its runs is not news of a run that the lake has.
                own["runs"] = [row for row in own["runs"] if headers and not is_bare(row)]
                if any(own.values()):
                    run.outcome = FileOutcome.GROWN
            if run.outcome not in _NOT_WRITTEN:
                for name, of_table in own.items():
                    rows[name] += [{**row, **run.columns} for row in of_table]
        if rows["runs"] or streamed.has_other_rows:
            for name, of_table in given.items():
                rows[name] += () if BY_NAME[name].of_run else of_table
        return rows


class _Problems:
    """Writes and reports rejects, violations and secrets of a stream, block by block."""

    def __init__(self, session: ImportSession, streamed: StreamedReading) -> None:
        self._session = session
        self._streamed = streamed
        self._n_named: Counter[Path] = Counter()

    def recorded(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks after recording their problems."""
        for block in blocks:
            self._record_rejects(block)
            if block.violations:
                file = SourceFile(block.path, b"", self._streamed.hashes[block.path])
                run_id = block.run_id and (self._session.options.run_as or block.run_id)
                run = (_suite(self._streamed), run_id) if run_id else None
                self._session.write_violations(file, run, block.violations)
            self._session.secrets.add(block.path, block.secrets)
            if block.unsearched is not None:
                first_line, lines = block.unsearched
                self._session.secrets.search(block.path, lines, first_line)
            yield block

    def _record_rejects(self, block: Block) -> None:
        if not block.rejects:
            return
        session, path = self._session, block.path
        sha256 = self._streamed.hashes[path]
        rows = [quarantine_row(path, sha256, reject) for reject in block.rejects]
        session.writer.add(QUARANTINE, rows)
        named = block.rejects[: _MESSAGES_PER_FILE - self._n_named[path]]
        self._n_named[path] += len(named)
        session.report_rejects(path, named)
        session.summary.n_quarantined += len(rows) - len(named)


def _suite(streamed: StreamedReading) -> str:
    return streamed.reading.run[0] if streamed.reading.run is not None else ""


def _file_outcome(streamed: StreamedReading, *, is_clean: bool) -> FileOutcome:
    outcomes = {run.outcome for run in streamed.runs.values()}
    if streamed.has_other_rows:
        outcomes.add(FileOutcome.IMPORTED)
    if not outcomes:
        outcomes = {FileOutcome.UNCHANGED if is_clean else FileOutcome.QUARANTINED}
    return min(outcomes, key=_SEVERITY_ORDER.index)
