"""The import: from files to one batch of the lake.

Each file is read by the reader that knows its content, compared with what the lake holds of the
same run, and added where it brings something new. One batch holds all of it: an import that is
killed leaves nothing behind, and can be given again.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from dataclasses import asdict, astuple, dataclass, field
from typing import TYPE_CHECKING

from ingest.beside import files_beside
from ingest.discovery import find_files
from ingest.readers import read_file
from ingest.reading import SourceFile
from ingest.settling import Outcome, settle
from warehouse.batch import Source, current_generations
from warehouse.contents import read_contents
from warehouse.errors import BadInput
from warehouse.hashing import content_hash
from warehouse.jsontext import utf8
from warehouse.schemas import BY_NAME, FILES, QUARANTINE, VIOLATIONS
from warehouse.secrets import key_lines, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from ingest.reading import Reading, Reject
    from ingest.settling import Settled
    from warehouse.batch import Batch, Generation, RunKey
    from warehouse.contents import RunContent
    from warehouse.fields import Violation
    from warehouse.lake import BatchWriter, Lake, Row

# A file's bytes are kept in the store up to this size, so that a better reader can read it again.
LARGEST_KEPT_BYTES = 16 * 2**20
_LARGEST_READ_BYTES = 64 * 2**20
_FILES_AT_ONCE = 1000
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
    """

    run_as: str | None = None
    replace: bool = False
    strict: bool = False
    redact: bool = False
    restore: bool = False


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


def import_paths(
    lake: Lake,
    paths: Iterable[Path],
    options: Options,
    track: Callable[[Sequence[Path]], Iterable[Path]] = lambda files: files,
) -> Summary:
    """Import files and folders into a lake, as one batch.

    Args:
        lake: where to.
        paths: files, and folders that are searched.
        options: how.
        track: is given the files and gives them back one by one, to show progress.

    Raises:
        BadInput: `run_as` with more than one run.
        EvalstoreError: the batch could not be written.
    """
    found = find_files(paths)
    with lake.write("import") as writer:
        work = _Import(lake.current(), lake, writer, options)
        work.summary.n_other = found.n_other
        for path, reason in found.problems:
            work.reject_path(path, reason)
        work.summary.missing = found.missing
        work.take(track(found.files))
        work.take_beside()
        work.finish()
    return work.summary


class _Import:
    """One import at work: what the lake knows, what was seen, what is to be written."""

    def __init__(
        self, batches: list[Batch], lake: Lake, writer: BatchWriter, options: Options
    ) -> None:
        self.summary = Summary()
        self._batches = batches
        self._lake = lake
        self._writer = writer
        self._options = options
        self._sources = {(s.sha256, s.name, s.run_as): s for b in batches for s in b.sources}
        self._forgotten = forgotten_files(batches)
        self._current = current_generations(g for b in batches for g in b.generations)
        self._contents: dict[RunKey, RunContent] = {}
        self._new: dict[SourceKey, Source] = {}
        self._beside: dict[Path, None] = {}
        self._taken: set[str] = set()
        self._renamed: set[RunKey] = set()

    def take(self, paths: Iterable[Path]) -> None:
        """Read files and add what is new, so many at a time that memory stays flat."""
        pending: list[tuple[SourceFile, Reading]] = []
        for path in paths:
            file = self._bytes_of(path)
            if file is None or self._is_settled(file):
                continue
            pending.append((file, self._read(file)))
            if len(pending) == _FILES_AT_ONCE:
                self._add_all(pending)
                pending = []
        self._add_all(pending)

    def take_beside(self) -> None:
        """Read the task and model files beside the logs that were read."""
        self.take(
            sorted(path for path in self._beside if os.path.realpath(path) not in self._taken)
        )

    def finish(self) -> None:
        """Commit the batch, if it has anything that the lake lacks."""
        if self._new:
            generations = {g: None for source in self._new.values() for g in source.generations}
            restored = {s.sha256 for s in self._new.values()} & self._forgotten
            self._writer.commit(
                generations=generations, sources=self._new.values(), restored=sorted(restored)
            )

    def reject_path(self, path: Path, reason: str) -> None:
        """Put a path that leads to nothing readable into quarantine."""
        sha256 = content_hash("unreadable", str(path), reason)
        self._count(Outcome.QUARANTINED)
        self.summary.n_quarantined += 1
        self._say(path, f"quarantined: {reason}")
        if self._note_source(SourceFile(path, b"", sha256), is_clean=False):
            row = {"content_id": sha256, "path": utf8(str(path)), "reason": reason}
            self._writer.add(QUARANTINE, [row])

    def _bytes_of(self, path: Path) -> SourceFile | None:
        self._taken.add(os.path.realpath(path))
        try:
            size = path.stat().st_size
            if size > _LARGEST_READ_BYTES:
                self.reject_path(
                    path, f"{size:,} bytes, more than the {_LARGEST_READ_BYTES:,} read"
                )
                return None
            data = path.read_bytes()
        except OSError as error:
            self.reject_path(path, error.strerror or "cannot be read")
            return None
        data = self._without_keys(path, data)
        return SourceFile(path, data, hashlib.sha256(data).hexdigest())

    def _without_keys(self, path: Path, data: bytes) -> bytes:
        lines = key_lines(data)
        if lines and self._options.redact:
            return redact(data)
        if lines:
            where = ", ".join(map(str, lines[:_LINES_NAMED]))
            more = f" and {len(lines) - _LINES_NAMED} more" if len(lines) > _LINES_NAMED else ""
            self._say(path, f"line {where}{more}: looks like a key; `--redact` masks it")
        return data

    def _is_settled(self, file: SourceFile) -> bool:
        """Tell whether a file needs no reading: it was imported before, or forgotten."""
        if file.sha256 in self._forgotten and not self._options.restore:
            self._count(Outcome.FORGOTTEN)
            self._say(file.path, "left out: it was forgotten; `--restore` brings it back")
            return True
        source = self._sources.get(self._key(file)) or self._new.get(self._key(file))
        if source is None or not source.is_clean or self._options.replace:
            return False
        # What a later generation replaced may have to be refused now.
        if not all(self._current.get(g.run, g) == g for g in source.generations):
            return False
        self._count(Outcome.UNCHANGED)
        return True

    def _read(self, file: SourceFile) -> Reading:
        reading = read_file(file)
        if reading.run is None:
            return reading
        model_path = reading.rows["runs"][0]["model_path"]
        self._beside |= dict.fromkeys(files_beside(file.path, model_path))
        if self._options.run_as is not None:
            self._renamed.add(reading.run)
            if len(self._renamed) > 1:
                raise BadInput("`--as` names one run, and these are several: import them singly")
            reading.run = (reading.run[0], self._options.run_as)
            for row in (*reading.rows["runs"], *reading.rows["results"]):
                row["run_id"] = self._options.run_as
        return reading

    def _add_all(self, pending: list[tuple[SourceFile, Reading]]) -> None:
        runs = {reading.run for _, reading in pending if reading.run is not None}
        self._contents |= read_contents(self._lake, self._batches, runs - self._contents.keys())
        for file, reading in pending:
            if self._options.strict and (reading.violations or reading.rejects):
                self._refuse(file, reading)
            else:
                self._add(file, reading)

    def _refuse(self, file: SourceFile, reading: Reading) -> None:
        self._count(Outcome.REFUSED)
        for violation in reading.violations:
            self._say(file.path, violation.message, violation.line)
        for reject in reading.rejects:
            self._say(file.path, reject.reason, reject.line)

    def _add(self, file: SourceFile, reading: Reading) -> None:
        settled = settle(reading, self._contents, replace=self._options.replace)
        self._count(settled.outcome)
        if settled.outcome is Outcome.CONFLICT:
            self._say(file.path, settled.message)
        self.summary.n_quarantined += len(reading.rejects)
        for reject in reading.rejects:
            self._say(file.path, f"quarantined: {reject.reason}", reject.line)
        if settled.outcome in {Outcome.CONFLICT, Outcome.UNCHANGED}:
            return
        if self._note_source(file, settled.generation, is_clean=not reading.rejects):
            self._write(file, reading, settled)

    def _note_source(
        self, file: SourceFile, generation: Generation | None = None, *, is_clean: bool
    ) -> bool:
        """Note a file as imported; False where the lake has it already, with the same faults."""
        key = self._key(file)
        generations = (generation,) if generation is not None else ()
        source = Source(*key, is_clean=is_clean, generations=generations)
        if self._sources.get(key) == source and not is_clean:
            return False
        self._new[key] = source
        return True

    def _write(self, file: SourceFile, reading: Reading, settled: Settled) -> None:
        for table, rows in settled.rows.items():
            self._writer.add(BY_NAME[table], rows)
        self._writer.add(FILES, [_file_row(file, reading)])
        self._writer.add(QUARANTINE, [_quarantine_row(file, r) for r in reading.rejects])
        self._writer.add(VIOLATIONS, [_violation_row(file, reading, v) for v in reading.violations])
        self.summary.n_results += len(settled.rows.get("results", ()))
        self.summary.n_violations += len(reading.violations)
        self._name_violations(file, reading)
        if settled.generation is not None:
            self.summary.runs.add(settled.generation.run)

    def _name_violations(self, file: SourceFile, reading: Reading) -> None:
        room = _VIOLATIONS_NAMED - len(self.summary.violations)
        for violation in reading.violations[: max(room, 0)]:
            place = f"{file.path}:{violation.line}"
            self.summary.violations.append(f"{utf8(place)}: {violation.message}")

    def _key(self, file: SourceFile) -> SourceKey:
        return file.sha256, file.name, self._options.run_as

    def _count(self, outcome: Outcome) -> None:
        self.summary.outcomes[outcome] += 1

    def _say(self, path: Path, text: str, line: int | None = None) -> None:
        place = f"{path}:{line}" if line else str(path)
        self.summary.messages.append(f"{utf8(place)}: {text}")


def forgotten_files(batches: Iterable[Batch]) -> set[str]:
    """Give the hashes of the files that `forget` removed and no import has restored since."""
    batches = list(batches)
    restored = {sha256 for batch in batches for sha256 in batch.restored}
    return {
        sha256 for batch in batches for tombstone in batch.forgotten for sha256 in tombstone.files
    } - restored


def _file_row(file: SourceFile, reading: Reading) -> Row:
    return {
        "content_id": content_hash("file", file.sha256, reading.format),
        "path": utf8(str(file.path)),
        "sha256": file.sha256,
        "format": reading.format,
        "size_bytes": len(file.data),
        "content": file.data if len(file.data) <= LARGEST_KEPT_BYTES else None,
    }


def _quarantine_row(file: SourceFile, reject: Reject) -> Row:
    is_small = reject.raw is not None and len(reject.raw) <= LARGEST_KEPT_BYTES
    return {
        "content_id": content_hash("quarantine", file.sha256, reject.line, reject.reason),
        "path": utf8(str(file.path)),
        "sha256": file.sha256,
        "line": reject.line,
        "byte_offset": reject.byte_offset,
        "raw": reject.raw if is_small else None,
        "reason": utf8(reject.reason),
    }


def _violation_row(file: SourceFile, reading: Reading, violation: Violation) -> Row:
    suite, run_id = reading.run or (None, None)
    return {
        "content_id": content_hash("violation", file.sha256, run_id, astuple(violation)),
        "path": utf8(str(file.path)),
        "sha256": file.sha256,
        "suite": suite,
        "run_id": run_id,
        **asdict(violation),
    }
