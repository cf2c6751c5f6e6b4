"""Imports an OpenClaw run: its log streamed, and what its folder says beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ingest.formats.openclaw.runs import bare_run
from ingest.provenance import LARGEST_KEPT_BYTES, file_row, quarantine_row
from ingest.reading import SourceFile
from ingest.reconciliation import Outcome
from ingest.streams import Log, Logs, RunOutcome
from warehouse.formats.secrets import redact
from warehouse.hashing import content_hash
from warehouse.lake.contents import read_added
from warehouse.schemas import BY_NAME, FILES, QUARANTINE

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.formats.openclaw.lines import LineReader
    from ingest.reading import Reading, Reject
    from ingest.session import Ledger
    from warehouse.lake.lake import Lake
    from warehouse.types import Row

# Of the runs of one log, the one whose outcome comes first speaks for the file.
_SEVERITY_ORDER = (
    Outcome.CONFLICT,
    Outcome.REPLACED,
    Outcome.GROWN,
    Outcome.IMPORTED,
    Outcome.UNCHANGED,
    Outcome.QUARANTINED,
)
_MESSAGES_PER_LOG = 50


class RunImport:
    """The OpenClaw runs of one import.

    Attributes:
        FORMATS: names of the formats that it imports.
    """

    FORMATS: ClassVar = frozenset({"openclaw run", "openclaw log"})

    def __init__(self, lake: Lake, ledger: Ledger, lines: LineReader) -> None:
        self._lake = lake
        self._ledger = ledger
        self._lines = lines
        self._logs = Logs(lake, ledger.batches, ledger.current, ledger.writer, lines)

    def begin(self, log: Path) -> None:
        """Begin to read a log that will probably be added.

        Raises:
            OSError: the file cannot be read.
        """
        self._lines.begin(log, redact_keys=self._ledger.options.redact)

    def abandon(self) -> None:
        """Leave the log that was begun."""
        self._lines.abandon()

    def add(self, unit: SourceFile, reading: Reading, log_sha256: str | None) -> None:
        """Import a run.

        Args:
            unit: the folder or log, with the hash that stands for all of it.
            reading: what the folder says.
            log_sha256: of the log, where there is one.

        Raises:
            BadInput: `run_as` with a log of several runs.
        """
        ledger, options = self._ledger, self._ledger.options
        if options.strict and self._is_refused(unit, reading):
            self.abandon()
            return
        n_before = ledger.summary.n_quarantined
        runs = self._stream(reading, log_sha256)
        ledger.rename_run(reading)
        rows = self._rows(reading, runs)
        n_rejects = ledger.summary.n_quarantined - n_before
        ledger.say_rejects(unit.path, reading.rejects)
        ledger.count(_loudest(runs, has_rejects=bool(n_rejects or reading.rejects)))
        for run in runs.values():
            if run.message:
                ledger.say(unit.path, run.message)
        written = [r for r in runs.values() if r.outcome not in _NOT_WRITTEN]
        is_clean = not n_rejects and not reading.rejects
        # Those of unchanged runs too: the same file with the same faults is known by them.
        generations = [r.generation for r in runs.values() if r.outcome is not Outcome.CONFLICT]
        if not (written or not is_clean) or not ledger.note_source(
            unit, generations, is_clean=is_clean
        ):
            return
        for table, further in rows.items():
            ledger.writer.add(BY_NAME[table], further)
        ledger.write_provenance(unit, reading, files=reading.files)
        if reading.log is not None and log_sha256 is not None:
            row = _log_row(reading.log, log_sha256, reading.format, is_masked=options.redact)
            ledger.writer.add(FILES, [row])
        for run in written:
            ledger.count_run(run.generation.run, run.n_written)

    def _is_refused(self, unit: SourceFile, reading: Reading) -> bool:
        is_bad = bool(reading.violations or reading.rejects)
        if not is_bad and (reading.log is None or not self._logs.has_rejects(reading.log)):
            return False
        self._ledger.refuse(unit, reading)
        if not is_bad:
            self._ledger.say(unit.path, "has lines that are no records")
        return True

    def _stream(self, reading: Reading, log_sha256: str | None) -> dict[str, RunOutcome]:
        options = self._ledger.options
        run_id = reading.run[1] if reading.run is not None else ""
        runs: dict[str, RunOutcome] = {}
        if reading.log is not None and log_sha256 is not None:
            log = Log(
                reading.log,
                log_sha256,
                run_id,
                options.run_as,
                options.redact,
                _Rejects(self._ledger, reading.log, log_sha256).add,
                _Keys(self._ledger, reading.log).add,
            )
            runs = self._logs.add(log, replace=options.replace)
        main = options.run_as or run_id
        # A run of which there is a folder is a run, even before its first result.
        if main not in runs and reading.files:
            runs[main] = self._logs.begin(main)
        return runs

    def _rows(self, reading: Reading, runs: dict[str, RunOutcome]) -> dict[str, list[Row]]:
        """Give the rows beside the logs: all of a new run, else those that the lake lacks."""
        rows: dict[str, list[Row]] = {"runs": [], "resources": []}
        main = reading.run[1] if reading.run is not None else None
        for run_id, run in runs.items():
            is_main = run_id == main
            header = reading.rows["runs"][0] if is_main else bare_run(run_id)
            snapshots = reading.rows.get("resources", []) if is_main else []
            header = _header(header, run)
            if run.outcome is Outcome.UNCHANGED:
                known = read_added(self._lake, self._ledger.batches, run.generation.run)
                snapshots = [row for row in snapshots if row["content_id"] not in known]
                if header["content_id"] in known or _is_bare(header):
                    header = {}
                if header or snapshots:
                    run.outcome = Outcome.GROWN
            if run.outcome not in _NOT_WRITTEN:
                rows["runs"] += [header] if header else []
                rows["resources"] += [
                    {**row, "generation": run.generation.generation} for row in snapshots
                ]
        # Tasks are known by their content: the same again changes nothing.
        rows["tasks"] = [*reading.rows.get("tasks", ())] if rows["runs"] else []
        return rows


_NOT_WRITTEN = {Outcome.CONFLICT, Outcome.UNCHANGED}


class _Rejects:
    """Puts lines that are no records into quarantine as they come, and names the first of them."""

    def __init__(self, ledger: Ledger, path: Path, sha256: str) -> None:
        self._ledger = ledger
        self._path = path
        self._sha256 = sha256
        self._n_named = 0

    def add(self, reject: Reject) -> None:
        """Take a line."""
        row = quarantine_row(self._path, self._sha256, reject)
        self._ledger.writer.add(QUARANTINE, [row])
        if self._n_named < _MESSAGES_PER_LOG:
            self._ledger.say_rejects(self._path, [reject])
            self._n_named += 1
        else:
            self._ledger.summary.n_quarantined += 1


class _Keys:
    """Says once on which lines of a log something looks like a key."""

    def __init__(self, ledger: Ledger, path: Path) -> None:
        self._ledger = ledger
        self._path = path
        self._is_said = ledger.options.redact

    def add(self, lines: list[int]) -> None:
        """Take the lines of a block."""
        if not self._is_said:
            self._ledger.say_keys(self._path, lines)
            self._is_said = True


def _header(header: Row, run: RunOutcome) -> Row:
    row = {**header, "source_rows": run.n_records}
    return {
        **row,
        "generation": run.generation.generation,
        "parent_generation": run.generation.parent,
        "content_id": content_hash("run", row),
    }


def _is_bare(header: Row) -> bool:
    """Tell whether a header says nothing but that there is a run."""
    told = ("config", "inventory", "recorded_summary", "dataset_hashes", "source")
    return not any(header.get(column) for column in told)


def _loudest(runs: dict[str, RunOutcome], *, has_rejects: bool) -> Outcome:
    outcomes = {run.outcome for run in runs.values()}
    if not outcomes:
        outcomes = {Outcome.QUARANTINED if has_rejects else Outcome.UNCHANGED}
    return min(outcomes, key=_SEVERITY_ORDER.index)


def _log_row(path: Path, sha256: str, file_format: str, *, is_masked: bool) -> Row:
    size = path.stat().st_size
    if size > LARGEST_KEPT_BYTES:
        return file_row(SourceFile(path, b"", sha256), file_format, size=size)
    data = redact(path.read_bytes()) if is_masked else path.read_bytes()
    return file_row(SourceFile(path, data, sha256), file_format)
