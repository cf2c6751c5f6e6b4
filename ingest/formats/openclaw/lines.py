"""Reads results.jsonl in blocks of lines, so that memory stays flat however large it is.

A line that fits the columns (`FITTING_LINE`) is taken apart by DuckDB, in C++ and many at once;
any other is read one by one with care. Blocks are worked on by two threads, and come in order.
"""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.openclaw.fields import FIELDS, FITTING_LINE, MOMENTS
from ingest.formats.openclaw.record import UnreadableLineError, read_record
from ingest.reading import Reject
from warehouse.connection import open_in_memory
from warehouse.formats.secrets import SHAPES, SHAPES_ANYWHERE, redact
from warehouse.schemas import RESULTS, arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    import duckdb

    from warehouse.types import Row

_BLOCK_BYTES = 16 * 2**20
_LONGEST_LINE_BYTES = 256 * 2**20
_THREADS = 2
_BOM = b"\xef\xbb\xbf"

_COLUMNS = ("content_id", *(f.column for f in FIELDS), "record_keys", "extra", "source")
_SCHEMA = pa.schema(
    [pa.field("line", pa.int64()), *(arrow_schema(RESULTS).field(name) for name in _COLUMNS)]
).remove_metadata()


@dataclass(slots=True)
class LineBlock:
    """Consecutive lines of a file, read.

    Attributes:
        results: a row for each result: its line, from 1, and the columns that the line tells.
        others: events, and records of types unknown to us, with their `line`.
        rejects: lines that are no records.
        key_lines: lines that hold something of a key's shape.
    """

    results: pa.Table
    others: list[Row] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    key_lines: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _RawBlock:
    data: bytes | memoryview
    first_line: int
    offset: int
    reject: Reject | None = None


@contextmanager
def line_reader() -> Iterator[LineReader]:
    """Open what reading lines needs; it serves any number of files."""
    with open_in_memory(threads=1) as connection, ThreadPoolExecutor(_THREADS) as pool:
        yield LineReader(connection, pool)


class LineReader:
    """Reads files of result lines, some blocks ahead of whoever takes them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, pool: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._pool = pool
        self._begun: dict[tuple[Path, bool], _Stream] = {}

    def begin(self, path: Path, *, redact_keys: bool = False) -> None:
        """Work on the first blocks of a file that will be read, while something else is done.

        Raises:
            OSError: the file cannot be read.
        """
        self._begun[path, redact_keys] = self._stream(path, redact_keys)

    def abandon(self) -> None:
        """Leave what was begun."""
        for stream in self._begun.values():
            stream.cancel()
        self._begun.clear()

    def read(self, path: Path, *, redact_keys: bool = False) -> Iterator[LineBlock]:
        """Read a file's lines, block by block.

        Raises:
            OSError: the file cannot be read.
        """
        begun = self._begun.pop((path, redact_keys), None)
        stream = begun or self._stream(path, redact_keys)
        try:
            yield from stream.blocks()
        finally:
            stream.cancel()

    def _stream(self, path: Path, redact_keys: bool) -> _Stream:  # noqa: FBT001
        raws = _raw_blocks(path)
        return _Stream(self._pool.submit(self._read_block, raw, redact_keys) for raw in raws)

    def _read_block(self, raw: _RawBlock, redact_keys: bool) -> LineBlock:  # noqa: FBT001
        if raw.reject is not None:
            return LineBlock(_SCHEMA.empty_table(), rejects=[raw.reject])
        lines, starts = _lines(raw.data)
        fits = pc.match_substring_regex(_as_text(lines), FITTING_LINE)
        has_key = _with_keys(lines, fits)
        if redact_keys and len(has_key):
            lines, _ = _lines(redact(bytes(raw.data)))
            fits = pc.match_substring_regex(_as_text(lines), FITTING_LINE)
        results = self._by_columns(lines, fits, raw.first_line)
        repeats = _rows_with_repeated_keys(results["parsed_output"])
        loose_lines = np.flatnonzero(pc.invert(fits))
        if len(repeats):
            further_lines = results["line"].to_numpy()[repeats] - raw.first_line
            loose_lines = np.append(loose_lines, further_lines)
            results = results.take(np.delete(np.arange(len(results)), repeats))
        block = LineBlock(results, key_lines=[raw.first_line + int(at) for at in has_key])
        loose: list[Row] = []
        for at in sorted(loose_lines.tolist()):
            line, offset = raw.first_line + at, raw.offset + int(starts[at])
            _read_with_care(lines[at].as_py(), line, offset, block, loose)
        if loose:
            further = pa.Table.from_pylist(loose, _SCHEMA)
            block.results = pa.concat_tables([block.results, further]).sort_by("line")
        return block

    def _by_columns(self, lines: pa.Array, fits: pa.Array, first_line: int) -> pa.Table:
        numbers = pa.array(np.arange(first_line, first_line + len(lines)))
        fitting = pa.table({"line": numbers, "text": _as_text(lines)}).filter(fits)
        cursor = self._connection.cursor()
        try:
            cursor.register("fitting", fitting)
            return cursor.sql(_TAKE_APART).to_arrow_table().cast(_SCHEMA)
        finally:
            cursor.close()


class _Stream:
    """Blocks in order, a bounded number of them at work or waiting to be taken."""

    def __init__(self, futures: Iterator[Future[LineBlock]]) -> None:
        self._futures = futures
        self._waiting = deque(islice(futures, _THREADS + 1))

    def blocks(self) -> Iterator[LineBlock]:
        while self._waiting:
            block = self._waiting.popleft().result()
            self._waiting.extend(islice(self._futures, 1))
            yield block

    def cancel(self) -> None:
        for future in self._waiting:
            future.cancel()


def _take_apart() -> str:
    structure = json.dumps({field.name: field.type for field in FIELDS})
    columns = [
        f"make_timestamp({f.name} * 1000) AS {f.column}"
        if f.column in MOMENTS
        else f"nullif({f.name}, 'null') AS {f.column}"
        if f.type == "JSON"
        else f"{f.name} AS {f.column}"
        for f in FIELDS
    ]
    return f"""
        WITH records AS (
            SELECT line, md5(text) AS content_id,
                unnest(json_transform(text, '{structure}'))
            FROM fitting
        )
        SELECT line, content_id, {", ".join(columns)},
            NULL::VARCHAR AS record_keys, NULL::VARCHAR AS extra, NULL::VARCHAR AS source
        FROM records
    """  # noqa: S608 - names of our own fields only


_TAKE_APART = _take_apart()


def _lines(data: bytes | memoryview) -> tuple[pa.Array, np.ndarray]:
    """Give the lines, each with its line feed, and where they start; no byte is copied."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).astype(np.int32) + 1
    starts = np.concatenate([np.zeros(1, np.int32), ends])
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, buffers), starts


def _rows_with_repeated_keys(documents: pa.ChunkedArray) -> list[int]:
    """Find the objects that say a key twice: written again, they are shorter."""
    return [
        at
        for at, text in enumerate(documents.to_pylist())
        if text is not None
        and text.startswith(("{", "["))
        and len(orjson.dumps(orjson.loads(text))) != len(text.encode())
    ]


def _as_text(lines: pa.Array) -> pa.Array:
    """Take lines as text, whatever they are: only what matches `FITTING_LINE` is known to be."""
    return pa.Array.from_buffers(pa.string(), len(lines), lines.buffers())


def _with_keys(lines: pa.Array, fits: pa.Array) -> np.ndarray:
    """Find the lines that hold something of a key's shape.

    Polars looks for where a shape may begin, at several bytes a step, but in valid text only; and
    without the boundaries, of which it has another notion: so more lines match, and none less.
    """
    import polars as pl

    may_hold = ~fits.to_numpy(zero_copy_only=False)
    may_hold[~may_hold] = pl.Series(_as_text(lines).filter(fits)).str.contains(SHAPES_ANYWHERE)
    places = np.flatnonzero(may_hold)
    holds = pc.match_substring_regex(lines.take(pa.array(places)), SHAPES)
    found: np.ndarray = places[holds.to_numpy(zero_copy_only=False)]
    return found


def _read_with_care(raw: bytes, line: int, offset: int, block: LineBlock, loose: list[Row]) -> None:
    try:
        row = read_record(raw)
    except UnreadableLineError as error:
        block.rejects.append(Reject(str(error), line, offset, raw.rstrip(b"\r\n")))
        return
    if row is None:
        return
    row = {**row, "line": line}
    if "document" in row:
        block.others.append(row)
    else:
        loose.append(row)


def _raw_blocks(path: Path) -> Iterator[_RawBlock]:
    """Give whole lines, some megabytes of them at a time; a line beyond all bounds is rejected."""
    line, offset = 1, 0
    with path.open("rb") as file:
        rest = file.read(len(_BOM))
        if rest == _BOM:
            rest, offset = b"", len(_BOM)
        while True:
            buffer = bytearray(len(rest) + _BLOCK_BYTES)
            buffer[: len(rest)] = rest
            n_bytes = file.readinto(memoryview(buffer)[len(rest) :])
            if not n_bytes:
                break
            end = len(rest) + n_bytes
            cut = buffer.rfind(b"\n", len(rest), end) + 1
            if cut:
                yield _RawBlock(memoryview(buffer)[:cut], line, offset)
                line += buffer.count(b"\n", 0, cut)
                offset, rest = offset + cut, bytes(memoryview(buffer)[cut:end])
                continue
            rest = bytes(memoryview(buffer)[:end])
            if len(rest) > _LONGEST_LINE_BYTES:
                reason = f"a line of more than {_LONGEST_LINE_BYTES:,} bytes"
                yield _RawBlock(b"", line, offset, Reject(reason, line, offset))
                skipped = len(rest) + _skip_line(file)
                line, offset, rest = line + 1, offset + skipped, b""
    if rest:
        yield _RawBlock(rest + b"\n", line, offset)


def _skip_line(file: BinaryIO) -> int:
    n_skipped = 0
    while part := file.readline(_BLOCK_BYTES):
        n_skipped += len(part)
        if part.endswith(b"\n"):
            break
    return n_skipped
