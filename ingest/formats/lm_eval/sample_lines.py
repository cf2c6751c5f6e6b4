"""Lines of a samples file, and the stream in which DuckDB reads them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ingest.formats.common.nesting import flat

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    import duckdb

    from ingest.reading import Reject

LINES = pa.schema([("line", pa.int64()), ("text", pa.string()), ("raw", pa.binary())])
# How many lines DuckDB takes at once: more of them take more memory.
_LINES_AT_ONCE = 512
# By how many lines samples are returned: those of some megabytes, however long the lines are.
_STEPS = (4096, 256, 16, 1)
_STEP_BYTES = 8 * 2**20
# DuckDB takes these for JSON: numbers that it writes in another way, a comma after the last value.
_NOT_JSON = r"(?i)[:,\[]\s*-?(?:nan|inf|infinity)\s*[,}\]]|,\s*[}\]]"


@dataclass(slots=True)
class SampleLines:
    """The lines of a block.

    Attributes:
        lines: the lines; `text` is NULL where they are not UTF-8.
        secrets: line and kind of each possible secret.
        rejects: the reject for a line that is too long; there are then no lines.
        stream: number of the stream in which the block is read.
    """

    lines: pa.Table
    secrets: list[tuple[int, str]] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    stream: int = 0

    @property
    def step(self) -> int:
        """By how many lines samples are returned."""
        line_bytes = self.lines["raw"].nbytes // max(len(self.lines), 1)
        return next((n for n in _STEPS if n * line_bytes <= _STEP_BYTES), 1)


class SampleStream:
    """Blocks that one query reads while they are read from the file."""

    def __init__(self, blocks: Iterator[SampleLines], step: int) -> None:
        self._blocks = blocks
        self._step = step
        self._waiting: deque[SampleLines] = deque()
        self._error: Exception | None = None
        # Version 1.5.5 of DuckDB may go on reading for a moment when its result has been closed.
        self._reads = Lock()
        self._is_closed = False

    def samples(
        self, cursor: duckdb.DuckDBPyConnection, query: str
    ) -> Generator[tuple[SampleLines, pa.Table]]:
        """Yield lines, and what a query of the view `lines` returns of each.

        Raises:
            OSError: the file cannot be read.
        """
        schema = pa.schema([LINES.field("line"), LINES.field("text")])
        cursor.register("lines", pa.RecordBatchReader.from_batches(schema, self._batches()))
        try:
            # Closed before the cursor, also when the stream is abandoned.
            with cursor.sql(query).to_arrow_reader(self._step) as reader:
                for found in reader:
                    samples = pa.Table.from_batches([found])
                    yield self._first(len(samples)), samples
                if self._waiting:  # rejects after the last line
                    yield self._first(0), pa.Table.from_batches([], reader.schema)
        finally:
            with self._reads:
                self._is_closed = True
        if self._error is not None:
            raise self._error

    def _next_block(self) -> SampleLines | None:
        with self._reads:
            return None if self._is_closed else next(self._blocks, None)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            while (block := self._next_block()) is not None:
                self._waiting.append(block)
                texts = flat(block.lines["text"])
                is_json = pc.invert(pc.match_substring_regex(texts, _NOT_JSON))
                texts = pc.if_else(is_json, texts, pa.scalar(None, pa.string()))
                texts = pa.table({"line": block.lines["line"], "text": texts})
                del block
                yield from texts.to_batches(_LINES_AT_ONCE)
        except Exception as error:  # noqa: BLE001 - DuckDB would make another error of it
            self._error = error

    def _first(self, n_lines: int) -> SampleLines:
        """Return the first of the lines that wait for their samples."""
        first = SampleLines(LINES.empty_table())
        parts = []
        while self._waiting and (n_lines or not len(self._waiting[0].lines)):
            block = self._waiting.popleft()
            first.secrets += block.secrets
            first.rejects += block.rejects
            parts.append(block.lines.slice(0, n_lines))
            if n_lines < len(block.lines):
                self._waiting.appendleft(SampleLines(block.lines.slice(n_lines)))
            n_lines -= len(parts[-1])
        first.lines = pa.concat_tables([first.lines, *parts])
        return first
