"""The writer of a batch: Parquet files and `batch.json`, moved into the lake by one rename."""

from __future__ import annotations

import shutil
import struct
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from warehouse.core.errors import EvalstoreError
from warehouse.core.formats.values import arrow_array
from warehouse.core.hashing import file_sha256
from warehouse.core.schemas import (
    BATCH,
    LAKE_FORMAT,
    TABLES,
    Table,
    arrow_schema,
    column_meanings,
)
from warehouse.lake.atomic import sync_file, sync_folder, write_durably
from warehouse.lake.batch import Batch, BatchFile, batch_to_json, evalstore_version
from warehouse.lake.index.file import NAME as INDEX
from warehouse.lake.index.file import write_index
from warehouse.lake.locks import open_locked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from types import TracebackType

    import pyarrow as pa
    import pyarrow.parquet as pq

    from warehouse.core.types import Row
    from warehouse.lake.base_lake import BaseLake
    from warehouse.lake.batch import Generation, Source, Tombstone
    from warehouse.lake.remote.mirror import Mirror

# In the lake, once: in each file, the meanings would take more space than a small batch's rows.
MEANINGS = "columns.tsv"
ROWS_PER_GROUP = 100_000
# Rows of whole files are written once they reach this size.
_BUFFERED_BLOB_BYTES = 2**20
# pyarrow's own, 1, leaves texts an eighth larger and is hardly faster.
_COMPRESSION_LEVEL = 3
# Less than this waits for more, so that a small file has no column without a value.
_SMALL_BYTES = 2**20
# What runs are found by; of a column of texts, each file would keep the first and the last.
_WITH_STATISTICS = ("suite", "run_id", "generation", BATCH)
# Their values rarely repeat: a dictionary of them would cost time and save nothing.
_WITHOUT_DICTIONARY = {
    *("content_id", "seq", "raw_output", "parsed_output", "explanation", "text", "extra"),
    *("source", "content", "started_at", "ended_at", "e2e_ms"),
}


def arrow_table(table: Table, rows: Sequence[Row], used: Collection[str] = ()) -> pa.Table:
    """Return rows as an Arrow table with all columns.

    Args:
        table: their table; the rows have columns of it only.
        rows: the rows; missing columns are NULL.
        used: the columns that some of them have, if known.
    """
    import pyarrow as pa

    used = used or set[str]().union(*rows)
    schema = arrow_schema(table)
    columns = [
        _column([row.get(name) for row in rows], arrow_type)
        if name in used
        else pa.nulls(len(rows), arrow_type)
        for name, arrow_type in zip(schema.names, schema.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


class BatchWriter:
    """A batch that is being written; a context manager that leaves nothing without `commit`.

    Args:
        lake: where the batch is added.
        command: the command that writes it.
        name: a journal's ULID; a new one by default.
        mirror: the object store behind the lake, which the batch is uploaded to.
    """

    def __init__(
        self, lake: BaseLake, command: str, name: str | None = None, *, mirror: Mirror | None = None
    ) -> None:
        from ulid import ULID

        self.name = name or str(ULID())
        self._lake = lake
        self._mirror = mirror
        self._command = command
        self._folder = lake.staging / self.name
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._first: dict[str, pa.Table] = {}
        self._buffers: dict[str, list[Row]] = {}
        self._used_columns: dict[str, set[str]] = {}
        self._blob_bytes: Counter[str] = Counter()
        lake.staging.mkdir(parents=True, exist_ok=True)
        self._lock = open_locked(lake.staging / f"{self.name}.lock")
        with suppress(OSError):  # a full disk is noticed when rows are written
            self._lock.write(f"{command}\n".encode())  # for who watches
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
                f"{self._lake.store_path}: the batch could not be written "
                f"({error.strerror or error}); nothing was added: free some space or allow "
                "writing, then run the command again"
            ) from error

    def add(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows to a table; missing columns are NULL.

        Raises:
            UnknownColumn: a row has a key that the table lacks.
        """
        rows = list(rows)
        if not rows:
            return
        columns = set[str]().union(*rows)
        table.check_columns(columns)
        buffer = self._buffers.setdefault(table.name, [])
        buffer.extend(rows)
        self._used_columns.setdefault(table.name, set()).update(columns)
        self._blob_bytes[table.name] += _blob_bytes(table, rows)
        if len(buffer) >= ROWS_PER_GROUP or self._blob_bytes[table.name] >= _BUFFERED_BLOB_BYTES:
            self._flush(table)

    def add_table(self, table: Table, rows: pa.Table) -> None:
        """Add Arrow rows of a table's schema, or of its schema in merged batches."""
        self._flush(table)
        self._write(table, rows)

    @property
    def scratch(self) -> Path:
        """The folder of the batch before it is committed; what is left in it is removed."""
        return self._folder

    def path(self, table: Table) -> Path:
        """Return the path of a Parquet file that the caller writes itself."""
        return self._folder / f"{table.name}.parquet"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        is_buffered = any(self._buffers.values()) or bool(self._first)
        return not is_buffered and not any(self._folder.iterdir())

    def commit(
        self,
        *,
        generations: Iterable[Generation] = (),
        sources: Iterable[Source] = (),
        replaces: Iterable[str] = (),
        forgotten: Iterable[Tombstone] = (),
        restored: Iterable[str] = (),
        parts: Iterable[Batch] = (),
    ) -> Batch:
        """Write `batch.json` and move the batch into the lake, durably and atomically.

        The arguments are the attributes of `Batch` of the same names.

        Raises:
            OSError: the batch could not be written; the lake is unchanged. Leaving the context
                turns it into an `EvalstoreError`.
            StoreUnreachable: the batch is in the cache of an object store, which the next command
                uploads it to.
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
        description = batch_to_json(batch)
        write_index(self._folder / INDEX, batch, len(description))
        write_durably(self._folder / "batch.json", description)
        self._lake.path.mkdir(parents=True, exist_ok=True)
        self._write_meanings()
        self._folder.rename(self._lake.path / self.name)
        sync_folder(self._lake.path)
        if self._mirror is not None:
            self._mirror.push(batch)
        return batch

    def _write_meanings(self) -> None:
        """Write what the columns mean, where the lake has not got it from this version."""
        path = self._lake.path / MEANINGS
        with suppress(OSError):
            if path.is_file() and path.read_bytes() == column_meanings():
                return
        (self._folder / MEANINGS).write_bytes(column_meanings())
        (self._folder / MEANINGS).rename(path)

    def _flush(self, table: Table) -> None:
        rows = self._buffers.pop(table.name, [])
        used = self._used_columns.pop(table.name, set())
        blob_bytes = self._blob_bytes.pop(table.name, 0)
        if rows:
            written = arrow_table(table, rows, used)
            self._write(table, written)
            if blob_bytes >= _BUFFERED_BLOB_BYTES:
                # The writer keeps the pages of a row group until the next one begins.
                self._write(table, written.slice(0, 0))

    def _write(self, table: Table, rows: pa.Table) -> None:
        if table.name not in self._writers:
            import pyarrow as pa

            first = self._first.pop(table.name, None)
            rows = rows if first is None else pa.concat_tables([first, rows])
            if rows.nbytes < _SMALL_BYTES:
                self._first[table.name] = rows
                return
        self._parquet(table, rows.schema).write_table(rows)

    def _parquet(self, table: Table, schema: pa.Schema) -> pq.ParquetWriter:
        import pyarrow.parquet as pq

        if table.name not in self._writers:
            names = schema.names
            self._writers[table.name] = pq.ParquetWriter(
                self.path(table),
                schema,
                compression="zstd",
                compression_level=_COMPRESSION_LEVEL,
                use_dictionary=[n for n in names if n not in _WITHOUT_DICTIONARY],
                write_statistics=[n for n in names if n in _WITH_STATISTICS],
                # Parquet's own types say all that a copy of the schema in Arrow's form would.
                store_schema=False,
            )
            version = {"evalstore.schema_version": str(LAKE_FORMAT)}
            self._writers[table.name].add_key_value_metadata(version)
        return self._writers[table.name]

    def _finish_files(self) -> None:
        for table in TABLES:
            self._flush(table)
            if (rows := self._first.pop(table.name, None)) is not None:
                rows = _without_empty_columns(rows)
                self._parquet(table, rows.schema).write_table(rows)
        for writer in self._writers.values():
            writer.close()

    def _describe_files(self) -> dict[str, BatchFile]:
        import pyarrow.parquet as pq

        files = {}
        for path in sorted(self._folder.glob("*.parquet")):
            sync_file(path)
            files[path.stem] = BatchFile(pq.read_metadata(path).num_rows, file_sha256(path))
        return files


def _without_empty_columns(rows: pa.Table) -> pa.Table:
    """Drop the columns without a value: readers take those that a file lacks for NULL."""
    return rows.select(
        [
            column.name
            for column, values in zip(rows.schema, rows.columns, strict=True)
            if not column.nullable or values.null_count < len(values)
        ]
    )


def _column(values: Sequence[object], arrow_type: pa.DataType) -> pa.Array:
    """Return values as a column, without a copy of a single file."""
    import pyarrow as pa

    if len(values) == 1 and isinstance(values[0], bytes) and arrow_type == pa.binary():
        ends = struct.pack("=ii", 0, len(values[0]))
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(values[0])]
        return pa.Array.from_buffers(arrow_type, 1, buffers)
    return arrow_array(values, arrow_type)


def _blobs(table: Table) -> list[str]:
    """Return the columns that hold bytes: a whole file as minimum and maximum would cost a lot."""
    return [column.name for column in table.columns if column.type == "BLOB"]


def _blob_bytes(table: Table, rows: Iterable[Row]) -> int:
    return sum(len(row.get(name) or b"") for name in _blobs(table) for row in rows)
