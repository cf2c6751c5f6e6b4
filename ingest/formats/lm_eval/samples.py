"""Reads samples files in blocks of lines; DuckDB takes the samples apart."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.ahead import ahead
from ingest.formats.common.nesting import flat
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.lm_eval.layout import part_of
from ingest.formats.lm_eval.lists import sample_blocks
from ingest.formats.lm_eval.plain_samples import plain_form
from ingest.formats.lm_eval.sample_columns import KNOWN, SAMPLES
from ingest.formats.lm_eval.sample_lines import LINES, SampleLines, SampleStream
from ingest.formats.lm_eval.sample_rows import ReadBlock, SamplePart, SampleRows, query, raw_line
from ingest.reading import Reject
from warehouse.core.formats.json_text import is_exact, json_text
from warehouse.core.formats.secrets import find_secrets, lines_of, mask
from warehouse.core.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from concurrent.futures import Executor

    import duckdb

    from ingest.formats.common.lines import LineBlock
    from ingest.formats.lm_eval.layout import RunFiles
    from ingest.formats.lm_eval.plain_samples import PlainForm
    from ingest.reading import Block

# Less than usual: DuckDB takes ten times as much for what it makes of them.
_BLOCK_BYTES = 4 * 2**20
# Planning a query takes as long as reading 2 MB, so one query reads the whole file. A DuckDB that
# returns the first rows only once it has all of them would need too much memory for that: with it,
# each query reads this much.
_STREAM_BYTES = 32 * 2**20
_MOST_FIELDS = 1000
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
_WHITESPACE = " \t\n\r\f\v"
_KEYS = "SELECT DISTINCT unnest(json_keys(text)) AS key FROM lines ORDER BY key"
_FITS = """
    SELECT
        -- Not AND: of text that is not JSON, json_type would be an error.
        CASE
            WHEN NOT json_valid(text) THEN false
            WHEN text LIKE '{%' THEN true
            ELSE json_type(text) = 'OBJECT'
        END
        AND NOT contains(text, 'NaN') AND NOT contains(text, 'Infinity')
    FROM lines
"""


def blocks(run: RunFiles, *, mask: bool) -> Iterator[Block]:
    """Yield the rows of the samples files of a run.

    Args:
        run: the run.
        mask: whether possible secrets are masked.

    Raises:
        OSError: a file cannot be read.
    """
    # Imported here: other formats do without DuckDB.
    from warehouse.core.in_memory import open_in_memory
    from warehouse.engine.connection import RETURNS_FIRST_ROWS_EARLY

    stream_bytes = None if RETURNS_FIRST_ROWS_EARLY else _STREAM_BYTES
    # With two threads, DuckDB would return the rows of a stream in another order. One thread of the
    # pool runs the query, the other reads and searches lines for it.
    with open_in_memory(threads=1) as connection, ThreadPoolExecutor(2) as pool:
        for task_set, path in run.samples.items():
            reader = _Reader(task_set, connection, pool, is_masked=mask, stream_bytes=stream_bytes)
            samples = SampleRows(run.run_id, task_set, path, connection)
            read = reader.read(sample_blocks(path, _BLOCK_BYTES))
            with closing(ahead(read, pool)) as parts:
                for part in parts:
                    block = samples.block(part)
                    yield block
                    # What is written must not wait in memory for what is read next.
                    del part, block


class _Reader:
    """Reads lines in any thread."""

    def __init__(
        self,
        task_set: str,
        connection: duckdb.DuckDBPyConnection,
        pool: Executor,
        *,
        is_masked: bool,
        stream_bytes: int | None,
    ) -> None:
        self._part = part_of(task_set)
        self._shared = {"part": self._part, "task_set": task_set, "whitespace": _WHITESPACE}
        self._connection = connection
        self._pool = pool
        self._is_masked = is_masked
        self._stream_bytes = stream_bytes
        self._n_bytes = 0

    def read(self, blocks: Iterator[LineBlock]) -> Generator[ReadBlock]:
        """Yield the samples of lines, some thousands at a time."""
        found = (self._searched(block) for block in blocks)
        with closing(ahead(found, self._pool)) as searched:
            for key, lines in groupby(searched, key=lambda each: each.key):
                if key is None:
                    yield from map(self._read_any, lines)
                else:
                    yield from self._read_plain(SampleStream(key, lines), key.form)

    def _searched(self, block: LineBlock) -> SampleLines:
        """Return the lines of a block, with the possible secrets in them."""
        if block.reject is not None:
            return SampleLines(LINES.empty_table(), reject=block.reject)
        data = block.data
        secrets = find_secrets(data)
        places = lines_of(data, secrets, block.first_line)
        if self._is_masked:
            data = mask(data, secrets)
        raw = _lines(data)
        numbers = np.arange(block.first_line, block.first_line + len(raw))
        lines = pa.table({"line": numbers, "text": _texts(raw, data), "raw": raw}, schema=LINES)
        start, self._n_bytes = self._n_bytes, self._n_bytes + len(data)
        place = 0 if self._stream_bytes is None else start // self._stream_bytes
        return SampleLines(lines, places, form=plain_form(raw[0].as_py()), place=place)

    def _read_any(self, lines: SampleLines) -> ReadBlock:
        read = ReadBlock(secrets=lines.secrets)
        if lines.reject is not None:
            read.rejects.append(lines.reject)
        self._read_other(lines.lines, read)
        return read

    def _read_plain(self, stream: SampleStream, form: PlainForm) -> Iterator[ReadBlock]:
        """Yield plain samples, which one query reads, and others among them."""
        with (
            self._connection.cursor() as cursor,
            closing(stream.samples(cursor, self._shared)) as found,
        ):
            for lines, samples in found:
                read = ReadBlock(secrets=lines.secrets)
                is_plain = samples["is_plain"]
                if pc.all(is_plain).as_py():
                    read.parts.append(SamplePart(lines.lines, samples, form))
                else:
                    plain = lines.lines.filter(is_plain)
                    read.parts.append(SamplePart(plain, samples.filter(is_plain), form))
                    self._read_other(lines.lines.filter(pc.invert(is_plain)), read)
                yield read

    def _read_other(self, lines: pa.Table, read: ReadBlock) -> None:
        """Read samples of any form."""
        if not len(lines):
            return
        with self._connection.cursor() as cursor:
            for keys, part in _parts(_objects(lines, cursor, read), cursor, read.rejects):
                names = [key for key in keys if key not in KNOWN]
                cursor.register("lines", part)
                pointers = [
                    f"/{name.replace('~', '~0').replace('/', '~1')}" for name in (*KNOWN, *names)
                ]
                parameters = {"part": self._part, "names": names, "pointers": pointers}
                samples = query(cursor, SAMPLES, **parameters, whitespace=_WHITESPACE)
                read.parts.append(SamplePart(part, samples))


def _texts(raw: pa.Array, data: bytes) -> pa.Array:
    """Return lines as text; NULL for those that are not UTF-8."""
    # Arrow takes halves of surrogate pairs for UTF-8.
    with suppress(pa.ArrowInvalid):
        if not _SURROGATE.search(data):
            return raw.cast(pa.string())
    return pa.array([_decoded(line) for line in raw.to_pylist()], pa.string())


def _objects(lines: pa.Table, cursor: duckdb.DuckDBPyConnection, read: ReadBlock) -> pa.Table:
    """Return the lines that are JSON objects, `line` and `text`; others are rejected."""
    cursor.register("lines", pa.table({"text": flat(lines["text"])}))
    fits = pc.fill_null(query(cursor, _FITS).column(0), fill_value=False)
    table = lines.select(["line", "text"])
    if pc.all(fits).as_py():
        return table
    others = lines.filter(pc.invert(fits))
    exact = [
        row
        for line, raw in zip(others["line"].to_pylist(), others["raw"].to_pylist(), strict=True)
        if raw.strip()
        for row in _read_exactly(raw.rstrip(b"\n"), line, read)
    ]
    rows = pa.table(
        {
            "line": pa.array([line for line, _ in exact], pa.int64()),
            "text": pa.array([text for _, text in exact], pa.string()),
        }
    )
    return pa.concat_tables([table.filter(fits), rows]).sort_by("line")


def _parts(
    lines: pa.Table, cursor: duckdb.DuckDBPyConnection, rejects: list[Reject]
) -> Iterator[tuple[list[str], pa.Table]]:
    """Yield lines with the names of their fields, as many lines as have not too many names."""
    if not len(lines):
        return
    cursor.register("lines", lines)
    keys = [key for (key,) in cursor.sql(_KEYS).fetchall()]
    if len(keys) <= _MOST_FIELDS:
        yield keys, lines
    elif len(lines) == 1:
        reason = f"{len(keys):,} fields; the limit is {_MOST_FIELDS:,}"
        rejects.append(Reject(reason, lines["line"][0].as_py(), raw=raw_line(lines, 0)))
    else:
        half = len(lines) // 2
        yield from _parts(lines.slice(0, half), cursor, rejects)
        yield from _parts(lines.slice(half), cursor, rejects)


def _read_exactly(raw: bytes, line: int, read: ReadBlock) -> list[tuple[int, str]]:
    """Return a line that DuckDB does not read as it is meant; Python decides what JSON is."""
    try:
        record, _ = parsed(raw.removeprefix(b"\xef\xbb\xbf"))
    except UnreadableRecordError as error:
        read.rejects.append(Reject(str(error), line, raw=raw))
        return []
    if not isinstance(record, dict):
        read.rejects.append(Reject("not a JSON object", line, raw=raw))
        return []
    if not is_exact(record):
        read.sources[line] = utf8(raw.decode())
    return [(line, json_text(record))]


def _lines(data: bytes) -> pa.Array:
    """Return the lines, each with its line feed; no byte is copied."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")).astype(np.int64) + 1
    if not len(ends) or ends[-1] < len(data):
        ends = np.append(ends, len(data))
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(ends), buffers).cast(pa.binary())


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
