"""The import: from files and folders to one batch of the lake.

Each is read by the reader that claims it, compared with what the lake holds of the same runs, and
added if it brings something new. One batch holds all of it: an import that is killed leaves
nothing behind and can be repeated.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from ingest.discovery import find_files
from ingest.readers import FALLBACK, reader_of
from ingest.reading import Candidate
from ingest.reconciliation import FileOutcome, reconcile
from ingest.session import ImportSession
from ingest.sources import source_of
from ingest.streams import StreamedReading, StreamImport
from warehouse.core.files import real_path
from warehouse.core.hashing import small_file_sha256
from warehouse.core.schemas import BY_NAME
from warehouse.lake.contents import read_contents
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from ingest.format import Reader
    from ingest.reading import ImportOptions, Reading, SourceFile, Stream
    from ingest.session import ImportSummary
    from warehouse.lake.batch import RunKey
    from warehouse.lake.contents import RunContent
    from warehouse.lake.lake import Lake

# The lake is queried once for this many readings, or for files of this many bytes.
_READINGS_AT_ONCE = 1000
_BYTES_AT_ONCE = 64 * 2**20
# A file of a stream is read once for its hash and its row if it is not larger.
_SMALL_BYTES = 2**16


def import_paths(
    lake: Lake,
    paths: Iterable[Path],
    options: ImportOptions,
    track: Callable[[Sequence[Path]], Iterable[Path]] = lambda files: files,
) -> ImportSummary:
    """Import files and folders into a lake, as one batch.

    Args:
        lake: to import into.
        paths: files, and folders that are searched.
        options: how to import.
        track: is given the files and yields them one by one, to show progress.

    Raises:
        BadInput: `run_as` was given with several runs, or an option of a format cannot be used.
        EvalstoreError: the batch could not be written.
    """
    found = find_files(paths)
    with (
        shared_lake_lock(lake.store_path),
        lake.write("import") as writer,
        closing(ImportSession(lake.register(writer.scratch), writer, options)) as session,
    ):
        session.summary.n_other = found.n_other
        session.summary.n_tables = found.n_tables
        session.summary.missing = found.missing
        for path, reason in found.problems:
            session.reject_path(path, reason)
        importer = _Importer(lake, session)
        for path in track(list(found.readers)):
            importer.add(path, found.readers[path])
        folders: dict[Path, str] = {}
        read = {real_path(path, folders) for path in session.paths_read}
        for path in sorted(session.more_paths):
            if real_path(path, folders) not in read:
                importer.add(path, reader_of(Candidate(path)) or FALLBACK)
        importer.finish()
        session.commit()
        session.report_secrets()
    return session.summary


class _Importer:
    """Adds what is new in readings; those that fit into memory are compared many at a time."""

    def __init__(self, lake: Lake, session: ImportSession) -> None:
        self._lake = lake
        self._session = session
        self._streams = StreamImport(lake, session)
        self._contents: dict[RunKey, RunContent] = {}
        self._waiting: list[tuple[SourceFile, Reading]] = []
        self._waiting_bytes = 0

    def add(self, path: Path, reader: Reader) -> None:
        """Read a file or folder."""
        for reading in reader.read(path, self._session):
            if reading.stream is not None:
                self._add_stream(path, reading, reading.stream)
                continue
            file = source_of(path, reading, {})
            if self._is_known(file, reading):
                continue
            self._session.rename_run(reading)
            self._waiting.append((file, reading))
            self._waiting_bytes += sum(len(each.data) for each in reading.files)
            if len(self._waiting) == _READINGS_AT_ONCE or self._waiting_bytes > _BYTES_AT_ONCE:
                self._write_waiting()

    def finish(self) -> None:
        """Write what is waiting."""
        self._write_waiting()
        self._streams.finish()

    def _write_waiting(self) -> None:
        runs = {reading.run for _, reading in self._waiting if reading.run is not None}
        unknown = runs - self._contents.keys()
        batches = self._session.register.holding(unknown)
        self._contents |= read_contents(self._lake, batches, unknown)
        for file, reading in self._waiting:
            # The same file may have been waiting twice.
            if not self._is_known(file, reading):
                self._write(file, reading)
        self._waiting, self._waiting_bytes = [], 0

    def _is_known(self, file: SourceFile, reading: Reading) -> bool:
        return not reading.is_restated and self._session.skips(file)

    def _add_stream(self, path: Path, reading: Reading, stream: Stream) -> None:
        try:
            files = {each: small_file_sha256(each, _SMALL_BYTES) for each in stream.paths}
        except OSError as error:
            self._session.reject_path(path, error.strerror or "cannot be read")
            return
        hashes = {each: sha256 for each, (sha256, _) in files.items()}
        file = source_of(path, reading, hashes)
        if not self._is_known(file, reading):
            contents = {each: data for each, (_, data) in files.items() if data is not None}
            self._streams.add(
                StreamedReading(
                    file=file, reading=reading, stream=stream, hashes=hashes, contents=contents
                )
            )

    def _write(self, file: SourceFile, reading: Reading) -> None:
        session = self._session
        if session.options.strict:
            if reading.violations or reading.rejects:
                session.refuse(file, reading)
                return
            if not reading.is_restated and session.is_unchanged(file):
                return
        reconciled = reconcile(reading, self._contents, replace=session.options.replace)
        session.count(reconciled.outcome, [] if reading.run is None else [reading.run])
        if reconciled.outcome is FileOutcome.CONFLICT:
            session.say(file.path, reconciled.message)
        session.report_rejects(file.path, reading.rejects)
        if reconciled.outcome in {FileOutcome.CONFLICT, FileOutcome.UNCHANGED}:
            return
        generation = reconciled.generation
        generations = () if generation is None else (generation,)
        if not session.sources.add(file, generations, is_clean=not reading.rejects):
            return
        for table, rows in reconciled.rows.items():
            session.writer.add(BY_NAME[table], rows)
        session.write_provenance(file, reading, files=reading.files or [file])
        if generation is not None:
            session.count_run(generation.run, reconciled.n_new_results)
