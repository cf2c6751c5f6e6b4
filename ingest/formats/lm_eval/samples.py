"""Reads samples files in blocks of lines; DuckDB takes the samples apart."""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.repeats import SeenHashes
from ingest.formats.lm_eval.layout import SUITE, part_of
from ingest.formats.lm_eval.lists import sample_blocks
from ingest.formats.lm_eval.sample_columns import KNOWN, RESULTS, SAMPLES, SCORES, TASKS
from ingest.reading import Block, Reject
from warehouse.connection import open_in_memory
from warehouse.formats.json_text import is_exact, json_text
from warehouse.formats.secrets import find_secrets, lines_of, mask
from warehouse.formats.values import utf8
from warehouse.hashing import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

    from ingest.formats.common.lines import LineBlock
    from ingest.formats.lm_eval.layout import RunFiles

TABLES = ("results", "result_scores", "tasks")

_THREADS = 1
# Less than usual: DuckDB takes ten times as much for what it makes of them.
_BLOCK_BYTES = 4 * 2**20
_MOST_FIELDS = 1000
# DuckDB reads JSON of any depth; Python refuses what is nested too deeply.
_MOST_BRACKETS = 2000
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
    with open_in_memory(threads=1) as connection, ThreadPoolExecutor(_THREADS) as pool:
        for task_set, path in run.samples.items():
            reader = _Reader(part_of(task_set), connection, is_masked=mask)
            samples = _Samples(run.run_id, task_set, path, connection)
            futures = (pool.submit(reader.read, each) for each in sample_blocks(path, _BLOCK_BYTES))
            waiting = deque(islice(futures, _THREADS))
            try:
                while waiting:
                    read = waiting.popleft().result()
                    waiting.extend(islice(futures, 1))
                    yield samples.block(read)
            finally:
                for future in waiting:
                    future.cancel()


@dataclass(slots=True)
class _ReadBlock:
    """The samples of some lines, whatever came before.

    Attributes:
        parts: lines that are objects, each part with its samples.
        sources: original text of the lines that were changed to be read, by number.
        rejects: the other lines.
        secrets: line and kind of each possible secret.
    """

    parts: list[tuple[pa.Table, pa.Table]] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    secrets: list[tuple[int, str]] = field(default_factory=list)


class _Reader:
    """Reads lines in any thread."""

    def __init__(
        self, part: str, connection: duckdb.DuckDBPyConnection, *, is_masked: bool
    ) -> None:
        self._part = part
        self._connection = connection
        self._is_masked = is_masked

    def read(self, lines: LineBlock) -> _ReadBlock:
        """Return the samples of some lines."""
        read = _ReadBlock()
        if lines.reject is not None:
            read.rejects.append(lines.reject)
            return read
        data = lines.data
        secrets = find_secrets(data)
        read.secrets = lines_of(data, secrets, lines.first_line)
        if self._is_masked:
            data = mask(data, secrets)
        with self._connection.cursor() as cursor:
            table = _objects(data, lines.first_line, cursor, read)
            for keys, part in _parts(table, cursor, read.rejects):
                names = [key for key in keys if key not in KNOWN]
                cursor.register("lines", part)
                pointers = [
                    f"/{name.replace('~', '~0').replace('/', '~1')}" for name in (*KNOWN, *names)
                ]
                parameters = {"part": self._part, "names": names, "pointers": pointers}
                samples = _query(cursor, SAMPLES, **parameters, whitespace=_WHITESPACE)
                read.parts.append((part, samples))
        return read


class _Samples:
    """The state of a samples file between blocks: about 24 bytes for each sample."""

    def __init__(
        self, run_id: str, task_set: str, path: Path, connection: duckdb.DuckDBPyConnection
    ) -> None:
        self._run_id = run_id
        self._task_set = task_set
        self._path = path
        self._connection = connection
        self._part = part_of(task_set)
        # Tasks are added to a set from any part of it, so that its version is only its name.
        self._task_set_hash = content_hash("lm-eval task set", task_set)
        self._places, self._samples, self._results = SeenHashes(), SeenHashes(), SeenHashes()

    def block(self, read: _ReadBlock) -> Block:
        """Return the rows of some lines; those of earlier lines are known."""
        block = Block(
            path=self._path, run_id=self._run_id, rejects=read.rejects, secrets=read.secrets
        )
        sources = pa.table(
            {
                "line": pa.array(list(read.sources), pa.int64()),
                "source": pa.array(list(read.sources.values()), pa.string()),
            }
        )
        parts: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
        for lines, samples in read.parts:
            kept = self._kept(samples, lines, block.rejects)
            for name, rows in self._rows(kept, sources).items():
                parts[name].append(rows)
        block.rejects.sort(key=lambda reject: reject.line or 0)
        block.rows = {name: pa.concat_tables(found) for name, found in parts.items() if found}
        return block

    def _rows(self, kept: pa.Table, sources: pa.Table) -> dict[str, pa.Table]:
        cursor = self._connection
        cursor.register("samples", kept)
        cursor.register("sources", sources)
        task_set = {"task_set": self._task_set}
        of_set = {"suite": SUITE, "task_set_hash": self._task_set_hash}
        return {
            "results": _query(cursor, RESULTS, **task_set),
            "result_scores": _without_repeats(_query(cursor, SCORES, part=self._part)),
            "tasks": _query(cursor, TASKS, **task_set, **of_set),
        }

    def _kept(self, samples: pa.Table, lines: pa.Table, rejects: list[Reject]) -> pa.Table:
        """Return the samples that count, and whether each is the first of its result."""
        is_good = pc.is_null(samples["problem"]).to_numpy()
        place, line = (samples[name].to_numpy() for name in ("place_hash", "line_hash"))
        is_known = self._samples.add(line)
        is_other = self._places.add(place) & ~is_known & is_good
        wrong = np.flatnonzero(~is_good | is_other)
        for at in wrong.tolist():
            reason = samples["problem"][at].as_py() or self._described(samples, at)
            rejects.append(Reject(reason, samples["line"][at].as_py(), raw=_raw(lines, at)))
        samples = samples.filter(pa.array(is_good & ~is_other & ~is_known))
        is_again = self._results.add(samples["record_number"].to_numpy())
        return samples.append_column("is_first", pa.array(~is_again))

    @staticmethod
    def _described(samples: pa.Table, at: int) -> str:
        task, name = (samples[column][at].as_py() for column in ("task_id", "filter_name"))
        return f"repeats doc_id {task}, filter {name}, of an earlier line, with other content"


def _query(connection: duckdb.DuckDBPyConnection, query: str, **parameters: object) -> pa.Table:
    return connection.sql(query, params=parameters).to_arrow_table()


def _objects(
    data: bytes, first_line: int, cursor: duckdb.DuckDBPyConnection, read: _ReadBlock
) -> pa.Table:
    """Return the lines that are JSON objects, `line` and `text`; others are rejected."""
    raw = _lines(data)
    try:
        texts = raw.cast(pa.string())
    except pa.ArrowInvalid:
        texts = pa.array([_decoded(line) for line in raw.to_pylist()], pa.string())
    cursor.register("lines", pa.table({"text": _flat(texts)}))
    fits = pc.fill_null(_query(cursor, _FITS).column(0).combine_chunks(), fill_value=False)
    numbers = pa.array(np.arange(first_line, first_line + len(raw)))
    table = pa.table({"line": numbers, "text": texts})
    if pc.all(fits).as_py():
        return table
    exact = [
        row
        for line, text in zip(numbers, raw, strict=True)
        if not fits[line.as_py() - first_line].as_py() and text.as_py().strip()
        for row in _read_exactly(text.as_py().rstrip(b"\n"), line.as_py(), read)
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
        rejects.append(Reject(reason, lines["line"][0].as_py(), raw=_raw(lines, 0)))
    else:
        half = len(lines) // 2
        yield from _parts(lines.slice(0, half), cursor, rejects)
        yield from _parts(lines.slice(half), cursor, rejects)


def _raw(lines: pa.Table, at: int) -> bytes:
    text: str = lines["text"][at].as_py()
    return text.rstrip("\n").encode()


def _without_repeats(scores: pa.Table) -> pa.Table:
    """Return scores without those that are the same in two samples of a result."""
    ids = scores["content_id"].combine_chunks()
    codes = ids.dictionary_encode().indices.to_numpy()
    _, first = np.unique(codes, return_index=True)
    return scores if len(first) == len(scores) else scores.take(np.sort(first))


def _read_exactly(raw: bytes, line: int, read: _ReadBlock) -> list[tuple[int, str]]:
    """Return a line that DuckDB does not read as it is meant; Python decides what JSON is."""
    reason = "not a JSON object"
    try:
        record = json.loads(raw)
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
    is_deep = pc.greater(pc.fill_null(n_brackets, 0), _MOST_BRACKETS)
    return pc.if_else(is_deep, pa.scalar(None, pa.string()), texts)


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
