"""Reads results.jsonl in blocks of lines, so that memory stays flat however large it is.

Lines that fit the columns (`FITTING_LINE`) are parsed by DuckDB, in C++ and many at a time; the
others are parsed exactly, one by one. Two threads work on blocks, which are returned in order.
"""

from __future__ import annotations

import json
import re
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.lines import line_blocks
from ingest.formats.openclaw.fields import FIELDS, FITTING_LINE, MOMENTS
from ingest.formats.openclaw.record import UnreadableLineError, read_record
from ingest.reading import Reject
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.schemas import RESULTS, arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.formats.common.lines import LineBlock
    from warehouse.core.formats.yaml.fields import Violation
    from warehouse.core.types import EventRow, ResultRow

_THREADS = 2
_MOST_SLICES = 100
# To compile the expression for fitting lines takes as long as to read so many bytes exactly.
_SMALL_BYTES = 2**16
_EXPONENT = re.compile(rb"[0-9][eE][+-]?[0-9]")

_COLUMNS = ("content_id", *(f.column for f in FIELDS), "record_keys", "extra", "source")
_SCHEMA = pa.schema(
    [pa.field("line", pa.int64()), *(arrow_schema(RESULTS).field(name) for name in _COLUMNS)]
).remove_metadata()


@dataclass(slots=True, kw_only=True)
class RecordBlock:
    """The records of consecutive lines.

    Attributes:
        results: a row for each result, with its line, from 1, and the columns that the line has: a
            table, or a list for a small log, which is read in less time than a table is made.
        events: events, and records of unknown types, each with its line.
        rejects: lines that are not records.
        violations: fields of results that break the type of the specification.
        secrets: line and kind of each possible secret, in what was searched.
        unsearched: number of the first of some lines, and the lines, still to be searched.
    """

    results: pa.Table | list[tuple[int, ResultRow]]
    events: list[tuple[int, EventRow]] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)
    unsearched: tuple[int, bytes] | None = None


class LogReader:
    """Reads logs, a few blocks ahead of the caller."""

    def __init__(self) -> None:
        # Imported here: other formats do without DuckDB.
        from warehouse.core.in_memory import open_in_memory

        self._open = ExitStack()
        self._connection = self._open.enter_context(open_in_memory(threads=1))
        self._pool = self._open.enter_context(ThreadPoolExecutor(_THREADS))
        self._begun: dict[tuple[Path, bool], _BlockQueue] = {}

    def close(self) -> None:
        """Stop the threads."""
        self.abandon()
        self._open.close()

    def begin(self, path: Path, *, redact: bool = False) -> None:
        """Start parsing the first blocks of a log, while the caller does other work.

        Raises:
            OSError: the log cannot be read.
        """
        if not _is_small(path):
            self._begun[path, redact] = self._ahead(path, redact)

    def abandon(self) -> None:
        """Discard blocks that were begun but not read."""
        for ahead in self._begun.values():
            ahead.cancel()
        self._begun.clear()

    def read(self, path: Path, *, redact: bool = False) -> Iterator[RecordBlock]:
        """Read a log, block by block.

        Raises:
            OSError: the log cannot be read.
        """
        if _is_small(path):
            yield from (self._read_small_block(block, redact) for block in line_blocks(path))
            return
        begun = self._begun.pop((path, redact), None)
        ahead = begun or self._ahead(path, redact)
        try:
            yield from ahead.blocks()
        finally:
            ahead.cancel()

    def _ahead(self, path: Path, redact: bool) -> _BlockQueue:  # noqa: FBT001 - private
        blocks = line_blocks(path)
        return _BlockQueue(self._pool.submit(self._read_block, block, redact) for block in blocks)

    def _read_small_block(self, block: LineBlock, redact: bool) -> RecordBlock:  # noqa: FBT001
        if redact or block.reject is not None or _is_unlike_duckdb(block.data):
            return self._read_block(block, redact)
        rows: list[tuple[int, ResultRow]] = []
        read = RecordBlock(results=rows, unsearched=(block.first_line, block.data))
        offset = block.offset
        for line, raw in enumerate(block.data.split(b"\n")[:-1], block.first_line):
            _read_exactly(raw, line, offset, block=read, rows=rows)
            offset += len(raw) + 1
        return read

    def _read_block(self, block: LineBlock, redact: bool) -> RecordBlock:  # noqa: FBT001
        if block.reject is not None:
            return RecordBlock(results=_SCHEMA.empty_table(), rejects=[block.reject])
        data = block.data
        secrets = find_secrets(data)
        lines, starts = _lines(data)
        if redact and secrets:
            lines, _ = _lines(mask(data, secrets))
        if len(data) <= _SMALL_BYTES and not _is_unlike_duckdb(data):
            results, others = _SCHEMA.empty_table(), list(range(len(lines)))
        else:
            results, others = self._fitting(lines, block.first_line)
        located = lines_of(data, secrets, block.first_line)
        read = RecordBlock(results=results, secrets=located)
        rows: list[tuple[int, ResultRow]] = []
        for at in others:
            line, offset = block.first_line + at, block.offset + int(starts[at])
            _read_exactly(lines[at].as_py(), line, offset, block=read, rows=rows)
        if rows:
            exact = pa.Table.from_pylist([{**row, "line": at} for at, row in rows], _SCHEMA)
            read.results = pa.concat_tables([results, exact]).sort_by("line")
        return read

    def _fitting(self, lines: pa.Array, first_line: int) -> tuple[pa.Table, list[int]]:
        """Return the results of the lines that fit the columns, and the places of the others."""
        fits = pc.match_substring_regex(_as_text(lines), FITTING_LINE)
        results = self._by_columns(lines, fits, first_line)
        repeats = _rows_with_repeated_keys(results["parsed_output"])
        others = np.flatnonzero(pc.invert(fits))
        if len(repeats):
            others = np.append(others, results["line"].to_numpy()[repeats] - first_line)
            results = results.take(np.delete(np.arange(len(results)), repeats))
        return results, sorted(others.tolist())

    def _by_columns(self, lines: pa.Array, fits: pa.Array, first_line: int) -> pa.Table:
        numbers = pa.array(np.arange(first_line, first_line + len(lines)))
        fitting = _filtered(pa.table({"line": numbers, "text": _as_text(lines)}), fits)
        cursor = self._connection.cursor()
        try:
            cursor.register("fitting", fitting)
            return cursor.sql(_TO_COLUMNS).to_arrow_table().cast(_SCHEMA)
        finally:
            cursor.close()


class _BlockQueue:
    """Blocks in order, a bounded number of them in progress or waiting for the caller."""

    def __init__(self, futures: Iterator[Future[RecordBlock]]) -> None:
        self._futures = futures
        self._waiting = deque(islice(futures, _THREADS))

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the blocks in order."""
        while self._waiting:
            block = self._waiting.popleft().result()
            self._waiting.extend(islice(self._futures, 1))
            yield block

    def cancel(self) -> None:
        """Cancel the blocks that have not started."""
        for future in self._waiting:
            future.cancel()


def _to_columns() -> str:
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


_TO_COLUMNS = _to_columns()


def _lines(data: bytes | memoryview) -> tuple[pa.Array, np.ndarray]:
    """Return the lines, each with its line feed, and where they start; no byte is copied."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).astype(np.int32) + 1
    starts = np.concatenate([np.zeros(1, np.int32), ends])
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, buffers), starts


def _filtered(table: pa.Table, wanted: pa.Array) -> pa.Table:
    """Return the wanted rows: runs of them, as they are, because `filter` copies texts slowly."""
    unwanted = np.flatnonzero(pc.invert(wanted))
    if len(unwanted) > _MOST_SLICES:
        return table.filter(wanted)
    borders = [-1, *unwanted.tolist(), len(table)]
    runs = [table.slice(first + 1, end - first - 1) for first, end in pairwise(borders)]
    return pa.concat_tables(runs)


def _rows_with_repeated_keys(documents: pa.ChunkedArray) -> list[int]:
    """Return the positions of objects with duplicate keys, which get shorter when rewritten."""
    is_nested = pc.or_(pc.starts_with(documents, "{"), pc.starts_with(documents, "["))
    places = np.flatnonzero(pc.fill_null(is_nested, fill_value=False))
    texts = documents.filter(is_nested).cast(pa.binary()).to_pylist()
    return [
        at
        for at, text in zip(places.tolist(), texts, strict=True)
        if len(orjson.dumps(orjson.loads(text))) != len(text)
    ]


def _is_unlike_duckdb(data: bytes) -> bool:
    """Return whether there are numbers with an exponent or control characters.

    DuckDB writes both in another way than Python.
    """
    return b"\\u00" in data or _EXPONENT.search(data) is not None


def _is_small(path: Path) -> bool:
    """Return whether a log is read without tables: 4,000 small ones take 3 s of CPU, not 26."""
    return path.stat().st_size <= _SMALL_BYTES


def _as_text(lines: pa.Array) -> pa.Array:
    """Declare lines to be text; only those that match `FITTING_LINE` are surely valid UTF-8."""
    return pa.Array.from_buffers(pa.string(), len(lines), lines.buffers())


def _read_exactly(
    raw: bytes,
    line: int,
    offset: int,
    *,
    block: RecordBlock,
    rows: list[tuple[int, ResultRow]],
) -> None:
    try:
        record = read_record(raw, line)
    except UnreadableLineError as error:
        block.rejects.append(Reject(str(error), line, offset, raw.rstrip(b"\r\n")))
        return
    if record is None:
        return
    block.violations.extend(record.violations)
    if "document" in record.row:
        block.events.append((line, cast("EventRow", record.row)))
    else:
        rows.append((line, cast("ResultRow", record.row)))
