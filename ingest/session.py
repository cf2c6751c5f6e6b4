"""What an import knows and reports: the files that were imported before, and what became of each.

Shared by all that reads: a file is read once, is named in the summary, and is noted in the batch
with all that could not be used of it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.provenance import file_row, quarantine_row, violation_row
from ingest.reading import SourceFile
from ingest.reconciliation import Outcome
from warehouse.errors import BadInput
from warehouse.formats.secrets import key_lines, redact
from warehouse.formats.values import utf8
from warehouse.hashing import content_hash
from warehouse.lake.batch import Source, current_generations
from warehouse.schemas import FILES, QUARANTINE, VIOLATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ingest.formats.posters.dataset import GoldClaim
    from ingest.reading import Reading, Reject
    from warehouse.lake.batch import Batch, Generation, RunKey
    from warehouse.lake.lake import BatchWriter

_LARGEST_READ_BYTES = 64 * 2**20
_LINES_NAMED = 5
_VIOLATIONS_NAMED = 20

SourceKey = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to import.

    Attributes:
        run_as: a new id for the one run that is imported.
        replace: a conflicting log opens a new generation of its run.
        strict: a file that breaks a rule of its specification is refused.
        redact: what has the shape of a key is masked.
        restore: files that `forget` removed may come back.
        prompts: the prompt file that the imported openclaw runs used.
        gold: who settled the imported ground truth of posters, where somebody did.
    """

    run_as: str | None = None
    replace: bool = False
    strict: bool = False
    redact: bool = False
    restore: bool = False
    prompts: Path | None = None
    gold: GoldClaim | None = None


@dataclass(slots=True)
class Summary:
    """What an import did.

    Attributes:
        outcomes: how many files ended how.
        runs: the runs that got results.
        n_results: results that are new.
        n_quarantined: records, and whole files, that could not be used.
        n_violations: broken rules in the files that were read.
        n_other: files of other kinds in the folders, left alone.
        violations: the first of them, each with file, line and field.
        messages: what a person should know, with its file, worst first in each file.
        missing: given paths that lead nowhere.
    """

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    runs: set[RunKey] = field(default_factory=set)
    n_results: int = 0
    n_quarantined: int = 0
    n_violations: int = 0
    n_other: int = 0
    violations: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)


class Ledger:
    """The books of one import."""

    def __init__(self, batches: Sequence[Batch], writer: BatchWriter, options: Options) -> None:
        self.summary = Summary()
        self.options = options
        self.batches = batches
        self.writer = writer
        self.current = current_generations(g for b in batches for g in b.generations)
        self.taken: set[Path] = set()
        self._renamed: set[RunKey] = set()
        self._sources = {(s.sha256, s.name, s.run_as): s for b in batches for s in b.sources}
        self._forgotten = forgotten_files(batches)
        self._new: dict[SourceKey, Source] = {}

    def bytes_of(self, path: Path) -> SourceFile | None:
        """Read a file; None, with a row in quarantine, where it cannot be read."""
        self.taken.add(path)
        try:
            size = path.stat().st_size
            if size > _LARGEST_READ_BYTES:
                reason = f"{size:,} bytes, more than the {_LARGEST_READ_BYTES:,} read"
                self.reject_path(path, reason)
                return None
            data = path.read_bytes()
        except OSError as error:
            self.reject_path(path, error.strerror or "cannot be read")
            return None
        data = self._without_keys(path, data)
        return SourceFile(path, data, hashlib.sha256(data).hexdigest())

    def is_settled(self, file: SourceFile) -> bool:
        """Tell whether a file needs no reading: it was imported before, or forgotten."""
        if file.sha256 in self._forgotten and not self.options.restore:
            self.count(Outcome.FORGOTTEN)
            self.say(file.path, "left out: it was forgotten; `--restore` brings it back")
            return True
        source = self._sources.get(self._key(file)) or self._new.get(self._key(file))
        if source is None or not source.is_clean or self.options.replace:
            return False
        # What a later generation replaced may have to be refused now.
        if not all(self.current.get(g.run, g) == g for g in source.generations):
            return False
        self.count(Outcome.UNCHANGED)
        return True

    def note_source(
        self, file: SourceFile, generations: Iterable[Generation] = (), *, is_clean: bool
    ) -> bool:
        """Note a file as imported; False where the lake has it already, with the same faults."""
        key = self._key(file)
        source = Source(*key, is_clean=is_clean, generations=tuple(generations))
        if self._sources.get(key) == source and not is_clean:
            return False
        self._new[key] = source
        return True

    def reject_path(self, path: Path, reason: str) -> None:
        """Put a path that leads to nothing readable into quarantine."""
        sha256 = content_hash("unreadable", str(path), reason)
        self.count(Outcome.QUARANTINED)
        self.summary.n_quarantined += 1
        self.say(path, f"quarantined: {reason}")
        if self.note_source(SourceFile(path, b"", sha256), is_clean=False):
            row = {"content_id": sha256, "path": utf8(str(path)), "reason": reason}
            self.writer.add(QUARANTINE, [row])

    def refuse(self, file: SourceFile, reading: Reading) -> None:
        """Leave out a file that breaks a rule, and say which."""
        self.count(Outcome.REFUSED)
        for violation in reading.violations:
            self.say(file.path, violation.message, violation.line)
        for reject in reading.rejects:
            self.say(file.path, reject.reason, reject.line)

    def say_rejects(self, path: Path, rejects: Iterable[Reject]) -> None:
        """Report records that could not be used."""
        for reject in rejects:
            self.summary.n_quarantined += 1
            self.say(path, f"quarantined: {reject.reason}", reject.line)

    def write_provenance(
        self, file: SourceFile, reading: Reading, *, files: Iterable[SourceFile]
    ) -> None:
        """Write the files of a reading, what could not be used of them, and what breaks rules."""
        self.writer.add(FILES, [file_row(each, reading.format) for each in files])
        rejects = [quarantine_row(file.path, file.sha256, r) for r in reading.rejects]
        self.writer.add(QUARANTINE, rejects)
        violations = [violation_row(file, reading.run, v) for v in reading.violations]
        self.writer.add(VIOLATIONS, violations)
        self.summary.n_violations += len(reading.violations)
        self._name_violations(file, reading)

    def rename_run(self, reading: Reading) -> None:
        """Put a reading's run under the new id, where one was asked for.

        Raises:
            BadInput: it is the second run that is imported under the one new id.
        """
        if self.options.run_as is None or reading.run is None:
            return
        self._renamed.add(reading.run)
        if len(self._renamed) > 1:
            raise BadInput("`--as` names one run, and these are several: import them singly")
        reading.rename_run(self.options.run_as)

    def count_run(self, run: RunKey, n_results: int) -> None:
        """Count results that are new in a run."""
        self.summary.runs.add(run)
        self.summary.n_results += n_results

    def finish(self) -> None:
        """Commit the batch, if it has anything that the lake lacks."""
        if self._new:
            generations = {g: None for source in self._new.values() for g in source.generations}
            restored = {s.sha256 for s in self._new.values()} & self._forgotten
            self.writer.commit(
                generations=generations, sources=self._new.values(), restored=sorted(restored)
            )

    def count(self, outcome: Outcome) -> None:
        """Count how a file ended."""
        self.summary.outcomes[outcome] += 1

    def say(self, path: Path, text: str, line: int | None = None) -> None:
        """Tell a person something about a file."""
        place = f"{path}:{line}" if line else str(path)
        self.summary.messages.append(f"{utf8(place)}: {text}")

    def say_keys(self, path: Path, lines: Sequence[int]) -> None:
        """Tell on which lines something looks like a key."""
        where = ", ".join(map(str, lines[:_LINES_NAMED]))
        more = f" and {len(lines) - _LINES_NAMED} more" if len(lines) > _LINES_NAMED else ""
        self.say(path, f"line {where}{more}: looks like a key; `--redact` masks it")

    def _without_keys(self, path: Path, data: bytes) -> bytes:
        lines = key_lines(data)
        if lines and self.options.redact:
            return redact(data)
        if lines:
            self.say_keys(path, lines)
        return data

    def _name_violations(self, file: SourceFile, reading: Reading) -> None:
        room = _VIOLATIONS_NAMED - len(self.summary.violations)
        for violation in reading.violations[: max(room, 0)]:
            place = f"{file.path}:{violation.line}"
            self.summary.violations.append(f"{utf8(place)}: {violation.message}")

    def _key(self, file: SourceFile) -> SourceKey:
        return file.sha256, file.name, self.options.run_as


def forgotten_files(batches: Iterable[Batch]) -> set[str]:
    """Give the hashes of the files that `forget` removed and no import has restored since."""
    batches = list(batches)
    restored = {sha256 for batch in batches for sha256 in batch.restored}
    return {
        sha256 for batch in batches for tombstone in batch.forgotten for sha256 in tombstone.files
    } - restored
