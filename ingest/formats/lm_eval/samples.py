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
from ingest.formats.common.records import UnreadableRecordError, parsed
from ingest.formats.lm_eval.layout import part_of
from ingest.formats.lm_eval.lists import sample_blocks
from ingest.formats.lm_eval.sample_columns import samples_query
from ingest.formats.lm_eval.sample_lines import LINES, SampleLines, SampleStream
from ingest.formats.lm_eval.sample_rows import ReadBlock, SampleRows
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
    from ingest.reading import Block

# Less than usual: DuckDB takes ten times as much for what it makes of them.
_BLOCK_BYTES = 4 * 2**20
# Planning a query takes as long as reading 2 MB, so one query reads the whole file. A DuckDB that
# returns the first rows only once it has all of them would need too much memory for that: with it,
# each query reads this much.
_STREAM_BYTES = 32 * 2**20
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")


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
            samples = SampleRows(run.run_id, task_set, path)
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
        self._query = samples_query(task_set, part_of(task_set))
        self._connection = connection
        self._pool = pool
        self._is_masked = is_masked
        self._stream_bytes = stream_bytes
        self._n_bytes = 0

    def read(self, blocks: Iterator[LineBlock]) -> Generator[ReadBlock]:
        """Yield the samples of lines, some thousands at a time."""
        found = (self._searched(block) for block in blocks)
        with closing(ahead(found, self._pool)) as searched:
            for (_, step), lines in groupby(searched, key=lambda each: (each.stream, each.step)):
                yield from self._read(SampleStream(lines, step))

    def _searched(self, block: LineBlock) -> SampleLines:
        """Return the lines of a block, with the possible secrets in them."""
        start, self._n_bytes = self._n_bytes, self._n_bytes + len(block.data)
        stream = 0 if self._stream_bytes is None else start // self._stream_bytes
        if block.reject is not None:
            return SampleLines(LINES.empty_table(), rejects=[block.reject], stream=stream)
        data = block.data
        secrets = find_secrets(data)
        places = lines_of(data, secrets, block.first_line)
        if self._is_masked:
            data = mask(data, secrets)
        raw = _lines(data)
        numbers = np.arange(block.first_line, block.first_line + len(raw))
        lines = pa.table({"line": numbers, "text": _texts(raw, data), "raw": raw}, schema=LINES)
        return SampleLines(lines, places, stream=stream)

    def _read(self, stream: SampleStream) -> Iterator[ReadBlock]:
        """Yield the samples of a stream; lines that DuckDB does not read are read exactly."""
        with (
            self._connection.cursor() as cursor,
            closing(stream.samples(cursor, self._query)) as found,
        ):
            for block, samples in found:
                lines = block.lines.select(["line", "text"])
                read = ReadBlock(lines, samples, rejects=block.rejects, secrets=block.secrets)
                is_object = samples["is_object"]
                if not pc.all(is_object).as_py():
                    read.lines, read.samples = lines.filter(is_object), samples.filter(is_object)
                    self._read_others(block.lines.filter(pc.invert(is_object)), read)
                yield read

    def _read_others(self, others: pa.Table, read: ReadBlock) -> None:
        exact = [
            row
            for line, raw in zip(others["line"].to_pylist(), others["raw"].to_pylist(), strict=True)
            if raw.strip()
            for row in _read_exactly(raw.rstrip(b"\n"), line, read)
        ]
        if exact:
            with self._connection.cursor() as cursor:
                cursor.register("lines", pa.Table.from_pylist(exact))
                samples = cursor.sql(self._query).to_arrow_table()
            # What goes to quarantine is what the file has.
            texts = pa.array([row["raw"] for row in exact], pa.string())
            lines = pa.table([[row["line"] for row in exact], texts], schema=read.lines.schema)
            read.lines = pa.concat_tables([read.lines, lines]).sort_by("line")
            read.samples = pa.concat_tables([read.samples, samples]).sort_by("line")


def _texts(raw: pa.Array, data: bytes) -> pa.Array:
    """Return lines as text; NULL for those that are not UTF-8."""
    # Arrow takes halves of surrogate pairs for UTF-8.
    with suppress(pa.ArrowInvalid):
        if not _SURROGATE.search(data):
            return raw.cast(pa.string())
    return pa.array([_decoded(line) for line in raw.to_pylist()], pa.string())


def _read_exactly(raw: bytes, line: int, read: ReadBlock) -> list[dict[str, int | str]]:
    """Return a line that DuckDB does not read as it is meant; Python decides what JSON is."""
    try:
        record, _ = parsed(raw.removeprefix(b"\xef\xbb\xbf"))
    except UnreadableRecordError as error:
        read.rejects.append(Reject(str(error), line, raw=raw))
        return []
    if not isinstance(record, dict):
        read.rejects.append(Reject("not a JSON object", line, raw=raw))
        return []
    text = utf8(raw.decode())
    if not is_exact(record):
        read.sources[line] = text
    return [{"line": line, "text": json_text(record), "raw": text}]


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
