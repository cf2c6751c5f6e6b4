"""Lines of a samples file, and the stream in which DuckDB reads those of one form."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from ingest.formats.common.nesting import flat

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    import duckdb

    from ingest.formats.lm_eval.plain_samples import PlainForm
    from ingest.reading import Reject

LINES = pa.schema([("line", pa.int64()), ("text", pa.string()), ("raw", pa.binary())])
# How many lines DuckDB takes at once: more of them take more memory.
_LINES_AT_ONCE = 512
# By how many lines samples are returned: those of some megabytes, however long the lines are.
_STEPS = (4096, 256, 16, 1)
_STEP_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class StreamKey:
    """What the blocks of a stream have in common.

    Attributes:
        form: the form of the first line of each.
        step: by how many lines samples are returned.
        place: place of the stream in the file.
    """

    form: PlainForm
    step: int
    place: int


@dataclass(frozen=True, slots=True)
class SampleLines:
    """The lines of a block.

    Attributes:
        lines: the lines; `text` is NULL where they are not UTF-8.
        secrets: line and kind of each possible secret.
        reject: the reject for a line that is too long; there are then no lines.
        form: the form of the first line if that is a plain sample.
        place: place of its stream in the file.
    """

    lines: pa.Table
    secrets: list[tuple[int, str]] = field(default_factory=list)
    reject: Reject | None = None
    form: PlainForm | None = None
    place: int = 0

    @property
    def key(self) -> StreamKey | None:
        """The stream that the block belongs to; None if its first line is not plain."""
        if self.form is None:
            return None
        line_bytes = self.lines["raw"].nbytes // len(self.lines)
        step = next((n for n in _STEPS if n * line_bytes <= _STEP_BYTES), 1)
        return StreamKey(self.form, step, self.place)


class SampleStream:
    """Blocks that one query reads while they are read from the file."""

    def __init__(self, key: StreamKey, blocks: Iterator[SampleLines]) -> None:
        self._key = key
        self._blocks = blocks
        self._waiting: deque[SampleLines] = deque()
        self._error: Exception | None = None

    def samples(
        self, cursor: duckdb.DuckDBPyConnection, shared: Mapping[str, str]
    ) -> Generator[tuple[SampleLines, pa.Table]]:
        """Yield lines, and what the query returns of each.

        Args:
            cursor: runs the query.
            shared: parameters of the query.

        Raises:
            OSError: the file cannot be read.
        """
        schema = pa.schema([LINES.field("line"), LINES.field("text")])
        cursor.register("lines", pa.RecordBatchReader.from_batches(schema, self._batches()))
        # Closed before the cursor, also when the stream is abandoned.
        with cursor.sql(self._key.form.query(shared)).to_arrow_reader(self._key.step) as reader:
            for found in reader:
                samples = pa.Table.from_batches([found])
                yield self._first(len(samples)), samples
        if self._error is not None:
            raise self._error

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for block in self._blocks:
                self._waiting.append(block)
                texts = pa.table({"line": block.lines["line"], "text": flat(block.lines["text"])})
                del block
                yield from texts.to_batches(_LINES_AT_ONCE)
        except Exception as error:  # noqa: BLE001 - DuckDB would make another error of it
            self._error = error

    def _first(self, n_lines: int) -> SampleLines:
        """Return the first of the lines that wait for their samples."""
        parts, secrets = list[pa.Table](), list[tuple[int, str]]()
        while n_lines:
            block = self._waiting.popleft()
            secrets += block.secrets
            parts.append(block.lines.slice(0, n_lines))
            if n_lines < len(block.lines):
                self._waiting.appendleft(SampleLines(block.lines.slice(n_lines)))
            n_lines -= len(parts[-1])
        return SampleLines(pa.concat_tables(parts), secrets)
