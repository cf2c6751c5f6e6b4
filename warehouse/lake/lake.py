"""The lake: immutable batches of Parquet files, the truth of the store.

`<store>/lake/<batch>/<table>.parquet` and `<batch>/batch.json`. A batch is written in
`<store>/staging/` and moved into the lake by one rename, so that readers see all of it or
nothing, and any number of processes may add batches at once without locks.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Self

from warehouse.errors import EvalstoreError, StoreDamaged, StoreNewer, StoreReadOnly
from warehouse.formats.values import arrow_array
from warehouse.lake.batch import Batch, BatchFile, batch_from_json, batch_to_json
from warehouse.lake.locks import abandoned_file, open_locked
from warehouse.schemas import (
    BATCH,
    BY_NAME,
    SCHEMA_VERSION,
    TABLES,
    Table,
    arrow_schema,
    merged_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    import pyarrow as pa
    import pyarrow.parquet as pq

    from warehouse.lake.batch import Forgotten, Generation, Source
    from warehouse.types import Row

# What a document raises that is valid JSON, or not even that, and no batch.
_NOT_AS_WRITTEN = (ValueError, TypeError, KeyError, AttributeError, RecursionError)

ROWS_PER_GROUP = 100_000
# To look for repetitions in them costs time and finds none.
_SELDOM_REPEATED = {"content_id", "seq", "raw_output", "parsed_output", "source", "content"} | {
    "started_at",
    "ended_at",
    "e2e_ms",
}


class Lake:
    """The batches of a store."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.path = store / "lake"
        self.staging = store / "staging"

    def batch_names(self) -> set[str]:
        """List the batches that exist, replaced ones included."""
        if not self.path.is_dir():
            return set()
        with os.scandir(self.path) as entries:
            return {entry.name for entry in entries if not entry.name.startswith(".")}

    def read(self, name: str) -> Batch:
        """Read a batch's `batch.json`.

        Raises:
            StoreDamaged: the file cannot be read as what `write` wrote.
            StoreNewer: it was written by a newer version of evalstore.
        """
        path = self.path / name / "batch.json"
        try:
            document = json.loads(path.read_bytes())
            # A newer version may have fields that this one does not know.
            is_newer = document["schema_version"] > SCHEMA_VERSION
            batch = None if is_newer else batch_from_json(document)
        except (OSError, *_NOT_AS_WRITTEN) as error:
            raise StoreDamaged(f"{path}: not readable as a batch ({error})") from error
        if batch is None:
            raise StoreNewer(
                f"{path}: written by evalstore {document.get('version')} with schema version "
                f"{document['schema_version']}, this is version {SCHEMA_VERSION}: install a newer "
                "one"
            )
        if any(content.folder != name for content in batch.contents):
            raise StoreDamaged(f"{path}: tells of a batch {batch.name!r}, which lies elsewhere")
        if not batch.files.keys() <= BY_NAME.keys():
            raise StoreDamaged(f"{path}: tells of tables that there are none of")
        return batch

    def folders(self) -> list[Batch]:
        """Read all batches that are not replaced by others, as they lie in the lake.

        Raises:
            StoreDamaged: a `batch.json` cannot be read.
            StoreNewer: a batch is of a newer version.
        """
        batches = [self.read(name) for name in sorted(self.batch_names())]
        replaced = {name for batch in batches for name in batch.replaces}
        return [batch for batch in batches if batch.name not in replaced]

    def current(self) -> list[Batch]:
        """Give all batches that count, as they came in, in order of their names.

        Raises:
            StoreDamaged, StoreNewer: as `folders`.
        """
        contents = (content for folder in self.folders() for content in folder.contents)
        return sorted(contents, key=lambda batch: batch.name)

    def file(self, batch: Batch, table: str) -> Path:
        """Give the path of a table's Parquet file in a batch."""
        return self.path / batch.folder / f"{table}.parquet"

    def files(self, batches: Iterable[Batch], table: str) -> list[str]:
        """Give the paths of a table's files in some batches, each once."""
        paths = (str(self.file(batch, table)) for batch in batches if table in batch.files)
        return list(dict.fromkeys(paths))

    def verify(self, batch: Batch) -> None:
        """Check the SHA-256 of every file of a batch, or of the one that it was merged into.

        Raises:
            StoreDamaged: a file is missing or has other bytes than were written.
        """
        folder = batch if batch.merged_into is None else self.read(batch.folder)
        for table, expected in folder.files.items():
            path = self.file(folder, table)
            try:
                actual = file_sha256(path)
            except OSError as error:
                raise StoreDamaged(f"{path}: {error.strerror}") from error
            if actual != expected.sha256:
                raise StoreDamaged(
                    f"{path}: SHA-256 is {actual[:12]}…, was {expected.sha256[:12]}… when written"
                )

    def write(self, command: str, *, name: str | None = None) -> BatchWriter:
        """Begin a batch; it becomes visible with `BatchWriter.commit`.

        Args:
            command: what makes it.
            name: a journal's ULID; a new one if not given.

        Raises:
            StoreReadOnly: the store cannot be written.
        """
        try:
            self._sweep()
            return BatchWriter(self, command, name)
        except OSError as error:
            raise StoreReadOnly(
                f"{self.staging}: {error.strerror}; the store cannot be written"
            ) from error

    def remove_replaced(self) -> None:
        """Remove the batches that others replace: the caller has the lake alone.

        Raises:
            StoreDamaged, StoreNewer: as `folders`.
        """
        names = self.batch_names()
        for name in sorted(names - {batch.name for batch in self.folders()}):
            # Renamed first: a folder half removed must not look like a damaged batch.
            self.staging.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                (self.path / name).rename(self.staging / f"{name}.removed")
        self._sweep()

    def _sweep(self) -> None:
        """Remove what killed processes left in the staging folder."""
        if not self.staging.is_dir():
            return
        for path in self.staging.iterdir():
            if path.suffix == ".lock":
                with suppress(OSError), abandoned_file(path) as lock:
                    if lock is not None:
                        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
                        path.unlink(missing_ok=True)
            elif path.suffix == ".removed":
                shutil.rmtree(path, ignore_errors=True)


class BatchWriter:
    """A batch being written. Use it as a context manager: without `commit` nothing remains."""

    def __init__(self, lake: Lake, command: str, name: str | None = None) -> None:
        from ulid import ULID

        self.name = name or str(ULID())
        self._lake = lake
        self._command = command
        self._folder = lake.staging / self.name
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._buffers: dict[str, list[Row]] = {}
        self._used_columns: dict[str, set[str]] = {}
        lake.staging.mkdir(parents=True, exist_ok=True)
        self._lock = open_locked(lake.staging / f"{self.name}.lock")
        self._folder.mkdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for writer in self._writers.values():
            with suppress(OSError):
                writer.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        Path(self._lock.name).unlink(missing_ok=True)
        self._lock.close()
        if isinstance(error, OSError):
            raise EvalstoreError(
                f"{self._lake.store}: the batch could not be written ({error.strerror or error}); "
                "nothing was added: make room or permit writing, then give the command again"
            ) from error

    def add(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows to a table; missing columns are NULL.

        Raises:
            UnknownColumn: a row has a key that the table lacks.
        """
        rows = list(rows)
        columns = set[str]().union(*rows)
        table.check_columns(columns)
        buffer = self._buffers.setdefault(table.name, [])
        buffer.extend(rows)
        self._used_columns.setdefault(table.name, set()).update(columns)
        if len(buffer) >= ROWS_PER_GROUP:
            self._flush(table)

    def add_table(self, table: Table, rows: pa.Table) -> None:
        """Add rows of a table's whole schema, or of the schema of merged batches, at once."""
        self._flush(table)
        self._parquet(table, rows.schema.names).write_table(rows)

    def path(self, table: Table) -> Path:
        """Give the path for a Parquet file that the caller writes whole, by other means."""
        return self._folder / f"{table.name}.parquet"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not any(self._buffers.values()) and not any(self._folder.iterdir())

    def commit(
        self,
        *,
        generations: Iterable[Generation] = (),
        sources: Iterable[Source] = (),
        replaces: Iterable[str] = (),
        forgotten: Iterable[Forgotten] = (),
        restored: Iterable[str] = (),
        parts: Iterable[Batch] = (),
    ) -> Batch:
        """Write `batch.json` and move the batch into the lake, durably and at once.

        The arguments are the attributes of `Batch` of the same names.

        Raises:
            OSError: the batch could not be written; the lake is as it was. Leaving the context
                makes an `EvalstoreError` of it.
        """
        self._finish_files()
        batch = Batch(
            name=self.name,
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            command=self._command,
            version=evalstore_version(),
            files=self._describe_files(),
            generations=tuple(generations),
            sources=tuple(sources),
            replaces=tuple(replaces),
            forgotten=tuple(forgotten),
            restored=tuple(restored),
            parts=tuple(parts),
        )
        _write_durably(self._folder / "batch.json", batch_to_json(batch))
        self._lake.path.mkdir(parents=True, exist_ok=True)
        self._folder.rename(self._lake.path / self.name)
        _sync_folder(self._lake.path)
        return batch

    def _flush(self, table: Table) -> None:
        import pyarrow as pa

        rows = self._buffers.pop(table.name, [])
        used = self._used_columns.pop(table.name, set())
        if rows:
            columns = [
                arrow_array([row.get(column.name) for row in rows], column.type)
                if column.name in used
                else pa.nulls(len(rows), column.type)
                for column in arrow_schema(table)
            ]
            self._parquet(table).write_table(
                pa.Table.from_arrays(columns, schema=arrow_schema(table))
            )

    def _parquet(self, table: Table, columns: Iterable[str] = ()) -> pq.ParquetWriter:
        import pyarrow.parquet as pq

        if table.name not in self._writers:
            schema = merged_schema(table) if BATCH in columns else arrow_schema(table)
            self._writers[table.name] = pq.ParquetWriter(
                self.path(table),
                schema,
                compression="zstd",
                use_dictionary=[n for n in schema.names if n not in _SELDOM_REPEATED],
            )
        return self._writers[table.name]

    def _finish_files(self) -> None:
        for table in TABLES:
            self._flush(table)
        for writer in self._writers.values():
            writer.close()

    def _describe_files(self) -> dict[str, BatchFile]:
        import pyarrow.parquet as pq

        files = {}
        for path in sorted(self._folder.glob("*.parquet")):
            _sync_file(path)
            files[path.stem] = BatchFile(pq.read_metadata(path).num_rows, file_sha256(path))
        return files


def evalstore_version() -> str:
    """Give the version of the installed evalstore, `0` where it runs without being installed."""
    try:
        return version("evalstore")
    except PackageNotFoundError:
        return "0"


def file_sha256(path: Path) -> str:
    """Hash a file's bytes with SHA-256, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
