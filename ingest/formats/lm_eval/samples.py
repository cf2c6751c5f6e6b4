"""Reads samples files in blocks of lines; DuckDB takes the samples apart."""

from __future__ import annotations

import json
import re
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.lm_eval.layout import part_of
from ingest.formats.lm_eval.lists import sample_blocks
from ingest.formats.lm_eval.plain_samples import plain_form
from ingest.formats.lm_eval.sample_columns import KNOWN, SAMPLES
from ingest.formats.lm_eval.sample_rows import ReadBlock, SamplePart, SampleRows, query, raw_line
from ingest.reading import Reject
from warehouse.formats.json_text import is_exact, json_text
from warehouse.formats.secrets import find_secrets, lines_of, mask
from warehouse.formats.values import utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from ingest.formats.common.lines import LineBlock
    from ingest.formats.lm_eval.layout import RunFiles
    from ingest.reading import Block

_THREADS = 1
# Less than usual: DuckDB takes ten times as much for what it makes of them.
_BLOCK_BYTES = 4 * 2**20
_MOST_FIELDS = 1000
# DuckDB reads JSON of any depth; Python refuses what is nested too deeply.
_MOST_BRACKETS = 2000
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
    from warehouse.connection import open_in_memory

    with open_in_memory(threads=1) as connection, ThreadPoolExecutor(_THREADS) as pool:
        for task_set, path in run.samples.items():
            reader = _Reader(task_set, connection, is_masked=mask)
            samples = SampleRows(run.run_id, task_set, path, connection)
            futures = (pool.submit(reader.read, each) for each in sample_blocks(path, _BLOCK_BYTES))
            waiting = deque(islice(futures, _THREADS))
            try:
                while waiting:
                    block = samples.block(waiting.popleft().result())
                    waiting.extend(islice(futures, 1))
                    yield block
                    # What is written must not wait in memory for what is read next.
                    del block
            finally:
                for future in waiting:
                    future.cancel()


class _Reader:
    """Reads lines in any thread."""

    def __init__(
        self, task_set: str, connection: duckdb.DuckDBPyConnection, *, is_masked: bool
    ) -> None:
        self._task_set = task_set
        self._part = part_of(task_set)
        self._connection = connection
        self._is_masked = is_masked

    def read(self, lines: LineBlock) -> ReadBlock:
        """Return the samples of some lines."""
        read = ReadBlock()
        if lines.reject is not None:
            read.rejects.append(lines.reject)
            return read
        data = lines.data
        secrets = find_secrets(data)
        read.secrets = lines_of(data, secrets, lines.first_line)
        if self._is_masked:
            data = mask(data, secrets)
        raw = _lines(data)
        numbers = np.arange(lines.first_line, lines.first_line + len(raw))
        table = pa.table({"line": numbers, "text": _texts(raw, data), "raw": raw})
        with self._connection.cursor() as cursor:
            table = self._read_plain(table, cursor, read)
            if len(table):
                self._read_other(_objects(table, cursor, read), cursor, read)
        return read

    def _read_plain(
        self, lines: pa.Table, cursor: duckdb.DuckDBPyConnection, read: ReadBlock
    ) -> pa.Table:
        """Read the lines that are plain samples, and return the others."""
        form = plain_form(lines["raw"][0].as_py())
        if form is None:
            return lines
        text, parameters = form.query()
        shared = {"part": self._part, "task_set": self._task_set, "whitespace": _WHITESPACE}
        cursor.register("lines", lines.set_column(1, "text", _flat(lines["text"])))
        samples = query(cursor, text, **parameters, **shared)
        is_plain = samples["is_plain"]
        is_other = pc.invert(is_plain)
        if not pc.any(is_other).as_py():
            read.parts.append(SamplePart(lines, samples, form))
            return lines.slice(0, 0)
        read.parts.append(SamplePart(lines.filter(is_plain), samples.filter(is_plain), form))
        return lines.filter(is_other)

    def _read_other(
        self, lines: pa.Table, cursor: duckdb.DuckDBPyConnection, read: ReadBlock
    ) -> None:
        """Read samples of any form."""
        for keys, part in _parts(lines, cursor, read.rejects):
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
    cursor.register("lines", pa.table({"text": _flat(lines["text"])}))
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
    reason = "not a JSON object"
    try:
        record = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        reason, record = f"not UTF-8 ({error.reason} at byte {error.start})", None
    except RecursionError:
        reason, record = "nested too deeply", None
    except ValueError as error:
        reason, record = f"not JSON: {error}", None
    if not isinstance(record, dict):
        read.rejects.append(Reject(reason, line, raw=raw))
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


def _flat(texts: pa.Array) -> pa.Array:
    """Return texts with NULL for those that may be nested deeply."""
    is_long = pc.greater(pc.binary_length(texts), _MOST_BRACKETS)
    if not pc.any(is_long).as_py():
        return texts
    long = pc.if_else(is_long, texts, pa.scalar(None, pa.string()))
    n_brackets = pc.add(pc.count_substring(long, "["), pc.count_substring(long, "{"))
    is_deep = pc.fill_null(pc.greater(n_brackets, _MOST_BRACKETS), fill_value=False)
    return pc.if_else(is_deep, pa.scalar(None, pa.string()), texts)


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
