"""The state of one import: its options, what it has done so far, and what it reports.

Each file is read once, counted in the summary by the outcome of its import, and recorded in the
batch with everything in it that could not be used.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from ingest.notices import Level, Notice
from ingest.provenance import file_row, quarantine_row, violation_row
from ingest.reading import SourceFile
from ingest.reconciliation import FileOutcome
from ingest.secret_report import SecretReport
from ingest.sources import Sources
from warehouse.core.errors import BadInput
from warehouse.core.files import read_regular
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.formats.values import utf8
from warehouse.core.hashing import content_hash
from warehouse.core.schemas import FILES, QUARANTINE, VIOLATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from ingest.reading import ImportOptions, Reading, Reject
    from warehouse.core.formats.yaml.fields import Violation
    from warehouse.lake.batch import RunKey
    from warehouse.lake.index.register import Register
    from warehouse.lake.writer import BatchWriter

_VIOLATIONS_NAMED = 20

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class ImportSummary:
    """What an import did.

    Attributes:
        outcomes: number of files by outcome of their import.
        runs: runs with new results.
        n_results: number of new results.
        n_quarantined: number of records and whole files that could not be used.
        n_violations: number of broken rules in the files that were read.
        n_other: number of files of unknown kinds in folders; they are ignored.
        n_tables: how many of them are tables.
        violations: the first broken rules, each with file, line and field.
        notices: what the user should know about files.
        missing: given paths that do not exist.
        secrets: number of possible secrets by kind.
    """

    outcomes: Counter[FileOutcome] = field(default_factory=Counter)
    runs: set[RunKey] = field(default_factory=set)
    n_results: int = 0
    n_quarantined: int = 0
    n_violations: int = 0
    n_other: int = 0
    n_tables: int = 0
    violations: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    secrets: Counter[str] = field(default_factory=Counter)

    @property
    def messages(self) -> list[str]:
        """The notices in full, each with its file."""
        return list(map(str, self.notices))


class ImportSession:
    """One import. Readers see it as an `ImportContext`.

    Attributes:
        options: how to import.
        register: what the lake held at the start of the import.
        writer: writer of the import's batch.
        sources: the files imported earlier and by this import.
        secrets: possible secrets in the files searched so far.
        summary: what the import has done so far.
        paths_read: the files that were read into memory.
        more_paths: files that readers asked to import as well.
    """

    def __init__(self, register: Register, writer: BatchWriter, options: ImportOptions) -> None:
        self.options = options
        self.register = register
        self.writer = writer
        self.sources = Sources(register, options.run_as)
        self.secrets = SecretReport()
        self.summary = ImportSummary(secrets=self.secrets.counts)
        self.paths_read: set[Path] = set()
        self.more_paths: dict[Path, None] = {}
        self._renamed: set[RunKey] = set()
        self._shared: dict[Callable[[], object], object] = {}
        self._closing = ExitStack()

    def close(self) -> None:
        """Close what readers share."""
        self._closing.close()

    # For readers; see `ImportContext`.

    def read(self, path: Path) -> SourceFile | None:
        """Read a file of bounded size; None, with a row in quarantine, if that fails."""
        self.paths_read.add(path)
        try:
            data = read_regular(path)
        except OSError as error:
            self.reject_path(path, error.strerror or "cannot be read")
            return None
        if self.options.redact:
            secrets = find_secrets(data)
            self.secrets.add(path, lines_of(data, secrets))
            data = mask(data, secrets)
        else:
            self.secrets.search(path, data)
        return SourceFile(path, data, hashlib.sha256(data).hexdigest())

    def skips(self, file: SourceFile) -> bool:
        """Return whether a file need not be parsed; if so, it is counted."""
        if self.sources.is_forgotten(file) and not self.options.restore:
            self.count(FileOutcome.FORGOTTEN)
            self._note(file.path, "skipped: it was forgotten; `--restore` brings it back")
            return True
        # Whether a file breaks a rule is found by parsing it, also where it is in the store.
        return not self.options.strict and self.is_unchanged(file)

    def is_unchanged(self, file: SourceFile) -> bool:
        """Return whether the store has all of a file; if so, it is counted."""
        if self.options.replace or not self.sources.is_current(file):
            return False
        self.count(FileOutcome.UNCHANGED)
        return True

    def decline(self, path: Path, reason: str) -> None:
        """Report a file that goes with a tool's logs and holds nothing to import."""
        self.count(FileOutcome.DECLINED)
        self._note(path, f"not imported: {reason}")

    def also_import(self, paths: Iterable[Path]) -> None:
        """Import more files once those that were given are done."""
        self.more_paths |= dict.fromkeys(paths)

    def shared(self, make: Callable[[], T]) -> T:
        """Return what `make` returns, made once for this import and closed at its end."""
        if make not in self._shared:
            made = make()
            self._shared[make] = made
            if hasattr(made, "close"):
                self._closing.callback(made.close)
        return cast("T", self._shared[make])

    # For the import itself.

    def reject_path(self, path: Path, reason: str) -> None:
        """Put a path that cannot be read into quarantine."""
        sha256 = content_hash("unreadable", str(path), reason)
        self.count(FileOutcome.QUARANTINED)
        self.summary.n_quarantined += 1
        self.say(path, f"quarantined: {reason}")
        if self.sources.add(SourceFile(path, b"", sha256), (), is_clean=False):
            row = {"content_id": sha256, "path": utf8(str(path)), "reason": reason}
            self.writer.add(QUARANTINE, [row])

    def refuse(self, file: SourceFile, reading: Reading) -> None:
        """Skip a file that breaks a rule, and report which."""
        self.count(FileOutcome.REFUSED)
        for violation in reading.violations:
            self.say(file.path, violation.message, violation.line)
        for reject in reading.rejects:
            self.say(file.path, reject.reason, reject.line)

    def report_rejects(self, path: Path, rejects: Iterable[Reject]) -> None:
        """Report records that could not be used."""
        for reject in rejects:
            self.summary.n_quarantined += 1
            self.say(path, f"quarantined: {reject.reason}", reject.line)

    def write_provenance(
        self, file: SourceFile, reading: Reading, *, files: Iterable[SourceFile]
    ) -> None:
        """Write the files of a reading, its rejects and its violations."""
        self.writer.add(FILES, [file_row(each, reading.format) for each in files])
        rejects = [quarantine_row(file.path, file.sha256, r) for r in reading.rejects]
        self.writer.add(QUARANTINE, rejects)
        self.write_violations(file, reading.run, reading.violations)

    def write_violations(
        self, file: SourceFile, run: RunKey | None, violations: Sequence[Violation]
    ) -> None:
        """Write broken rules, and add the first ones of the import to the summary."""
        self.writer.add(VIOLATIONS, [violation_row(file, run, each) for each in violations])
        self.summary.n_violations += len(violations)
        room = max(_VIOLATIONS_NAMED - len(self.summary.violations), 0)
        for violation in violations[:room]:
            place = f"{file.path}:{violation.line}"
            self.summary.violations.append(f"{utf8(place)}: {violation.message}")

    def rename_run(self, reading: Reading) -> None:
        """Rename a reading's run if a new id was given.

        Raises:
            BadInput: another run was given the same id.
        """
        if self.options.run_as is None or reading.run is None:
            return
        self._renamed.add(reading.run)
        if len(self._renamed) > 1:
            raise BadInput("`--as` takes a single run; these are several: import each by itself")
        reading.rename_run(self.options.run_as)

    def count_run(self, run: RunKey, n_results: int) -> None:
        """Count a run's new results."""
        self.summary.runs.add(run)
        self.summary.n_results += n_results

    def commit(self) -> None:
        """Commit the batch if it has anything new."""
        sources = list(self.sources.new)
        if sources:
            generations = {g: None for source in sources for g in source.generations}
            self.writer.commit(
                generations=generations, sources=sources, restored=self.sources.restored
            )

    def count(self, outcome: FileOutcome, runs: Iterable[RunKey] = ()) -> None:
        """Count a file by the outcome of its import.

        Args:
            outcome: the outcome.
            runs: the runs that have grown: only those that the lake held before this import, so
                that the second file of a new run is imported like its first.
        """
        if outcome is FileOutcome.GROWN and not any(map(self.register.generation, runs)):
            outcome = FileOutcome.IMPORTED
        self.summary.outcomes[outcome] += 1

    def say(self, path: Path, text: str, line: int | None = None) -> None:
        """Report a problem of a file."""
        place = f"{path}:{line}" if line else str(path)
        self.summary.notices.append(Notice(Level.PROBLEM, utf8(place), text))

    def _note(self, path: Path, text: str) -> None:
        self.summary.notices.append(Notice(Level.NOTE, utf8(str(path)), text))

    def report_secrets(self) -> None:
        """Report the lines of possible secrets, unless they were masked."""
        if not self.options.redact:
            self.secrets.search_waiting()
            self.summary.notices += self.secrets.notices()
