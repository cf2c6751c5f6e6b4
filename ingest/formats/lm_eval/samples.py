"""Reads samples files in blocks of lines; DuckDB takes the samples apart."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.lines import line_blocks
from ingest.formats.common.repeats import SeenHashes
from ingest.formats.lm_eval.layout import SUITE, part_of
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

_MOST_FIELDS = 1000
# DuckDB reads JSON of any depth; Python refuses what is nested too deeply.
_MOST_BRACKETS = 2000
_BLANKS = " \t\n\r\f\v"
_KEYS = "SELECT DISTINCT unnest(json_keys(text)) AS key FROM lines ORDER BY key"
_FITS = """
    SELECT
        -- Not AND: of text that is not JSON, json_type would be an error.
        CASE WHEN json_valid(text) THEN json_type(text) = 'OBJECT' ELSE false END
        AND NOT contains(text, 'NaN') AND NOT contains(text, 'Infinity')
    FROM lines
"""
_Lines = list[tuple[int, str]]


def blocks(run: RunFiles, *, mask: bool) -> Iterator[Block]:
    """Yield the rows of the samples files of a run.

    Args:
        run: the run.
        mask: whether possible secrets are masked.

    Raises:
        OSError: a file cannot be read.
    """
    for task_set, path in run.samples.items():
        with open_in_memory(threads=2) as connection:
            samples = _Samples(run.run_id, task_set, path, connection)
            for lines in line_blocks(path):
                yield samples.block(lines, is_masked=mask)


@dataclass(slots=True)
class _Texts:
    """The samples of a block that can be read.

    Attributes:
        numbers: the lines' numbers in the file, from 1.
        texts: the lines; JSON that DuckDB reads as it is meant.
        sources: original text of the lines that were changed for that, by number.
        rejects: the other lines.
    """

    numbers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)


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

    def block(self, lines: LineBlock, *, is_masked: bool) -> Block:
        """Return the rows of some lines."""
        block = Block(path=self._path, run_id=self._run_id)
        if lines.reject is not None:
            block.rejects.append(lines.reject)
            return block
        data = bytes(lines.data)
        secrets = find_secrets(data)
        block.secrets = lines_of(data, secrets, lines.first_line)
        if is_masked:
            data = mask(data, secrets)
        read = self._read(data, lines.first_line)
        block.rejects += read.rejects
        table = pa.table({"line": pa.array(read.numbers, pa.int64()), "text": read.texts})
        sources = pa.table(
            {
                "line": pa.array(list(read.sources), pa.int64()),
                "source": pa.array(list(read.sources.values()), pa.string()),
            }
        )
        parts: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
        for keys, part in self._parts(table, block.rejects):
            for name, rows in self._rows(part, keys, sources, block.rejects).items():
                parts[name].append(rows)
        block.rejects.sort(key=lambda reject: reject.line or 0)
        block.rows = {name: pa.concat_tables(found) for name, found in parts.items() if found}
        return block

    def _read(self, data: bytes, first_line: int) -> _Texts:
        """Return the lines that are JSON objects, and why others are not."""
        raw = data.removesuffix(b"\n").split(b"\n")
        array = pa.array(raw, pa.binary())
        try:
            texts = array.cast(pa.string())
        except pa.ArrowInvalid:
            texts = pa.array([_decoded(line) for line in raw], pa.string())
        n_brackets = pc.add(pc.count_substring(texts, "["), pc.count_substring(texts, "{"))
        is_flat = pc.fill_null(pc.less(n_brackets, _MOST_BRACKETS), fill_value=False)
        asked = pc.if_else(is_flat, texts, pa.scalar(None, pa.string()))
        self._connection.register("lines", pa.table({"text": asked}))
        fits = self._connection.sql(_FITS).to_arrow_table().column(0).combine_chunks()
        found = _Texts()
        if pc.all(pc.fill_null(fits, fill_value=False)).as_py():
            found.numbers = list(range(first_line, first_line + len(raw)))
            found.texts = texts
            return found
        plain = texts.to_pylist()
        for at, is_fit in enumerate(fits.to_pylist()):
            line = first_line + at
            if is_fit:
                found.numbers.append(line)
                found.texts.append(plain[at])
            elif raw[at].strip():
                _read_exactly(raw[at], line, found)
        return found

    def _parts(
        self, lines: pa.Table, rejects: list[Reject]
    ) -> Iterator[tuple[list[str], pa.Table]]:
        """Yield lines with the names of their fields, as many lines as have not too many names."""
        if not len(lines):
            return
        self._connection.register("lines", lines)
        keys = [key for (key,) in self._connection.sql(_KEYS).fetchall()]
        if len(keys) <= _MOST_FIELDS:
            yield keys, lines
        elif len(lines) == 1:
            reason = f"{len(keys):,} fields; the limit is {_MOST_FIELDS:,}"
            text = lines["text"][0].as_py().encode()
            rejects.append(Reject(reason, lines["line"][0].as_py(), raw=text))
        else:
            half = len(lines) // 2
            yield from self._parts(lines.slice(0, half), rejects)
            yield from self._parts(lines.slice(half), rejects)

    def _rows(
        self, lines: pa.Table, keys: list[str], sources: pa.Table, rejects: list[Reject]
    ) -> dict[str, pa.Table]:
        names = [key for key in keys if key not in KNOWN]
        self._connection.register("lines", lines)
        samples = self._query(
            SAMPLES,
            part=self._part,
            keys=names,
            pointers=[f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names],
            blanks=_BLANKS,
        )
        kept = self._kept(samples, lines, rejects)
        self._connection.register("samples", kept)
        self._connection.register("sources", sources)
        scores = self._query(SCORES, part=self._part)
        return {
            "results": self._query(RESULTS, task_set=self._task_set),
            "result_scores": _without_repeats(scores),
            "tasks": self._query(
                TASKS, suite=SUITE, task_set=self._task_set, task_set_hash=self._task_set_hash
            ),
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
            text = lines["text"][at].as_py().encode()
            rejects.append(Reject(reason, samples["line"][at].as_py(), raw=text))
        samples = samples.filter(pa.array(is_good & ~is_other & ~is_known))
        is_again = self._results.add(samples["record_number"].to_numpy())
        return samples.append_column("is_first", pa.array(~is_again))

    @staticmethod
    def _described(samples: pa.Table, at: int) -> str:
        task, name = (samples[column][at].as_py() for column in ("task_id", "filter_name"))
        return f"repeats doc_id {task}, filter {name}, of an earlier line, with other content"

    def _query(self, query: str, **parameters: object) -> pa.Table:
        return self._connection.sql(query, params=parameters).to_arrow_table()


def _without_repeats(scores: pa.Table) -> pa.Table:
    """Return scores without those that are the same in two samples of a result."""
    ids = scores["content_id"].combine_chunks()
    codes = ids.dictionary_encode().indices.to_numpy()
    _, first = np.unique(codes, return_index=True)
    return scores if len(first) == len(scores) else scores.take(np.sort(first))


def _read_exactly(raw: bytes, line: int, found: _Texts) -> None:
    """Add a line that DuckDB does not read as it is meant; Python decides what JSON is."""
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
        found.rejects.append(Reject(reason, line, raw=raw))
        return
    found.numbers.append(line)
    found.texts.append(json_text(record))
    if not is_exact(record):
        found.sources[line] = utf8(raw.decode())


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
