"""Reads CSV and TSV: pyarrow splits the rows and names those it cannot, polars has the columns.

A row has the number of its line even where fields contain line breaks.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv as arrow_csv

from ingest.formats.common.lines import line_blocks
from ingest.formats.tables.batches import MOST_COLUMNS, TableFile, UnusableTableError, batch_of
from ingest.reading import HEAD_BYTES, Reject
from warehouse.core.files import open_regular
from warehouse.core.formats.json_text import json_text
from warehouse.core.formats.secrets import find_secrets, redact_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ingest.formats.tables.batches import TableBatch

_BLOCK_BYTES = 16 * 2**20
_DELIMITERS = ",;\t|"
# A byte that is not UTF-8 would end the whole file: it is read as a private character.
_ESCAPED = re.compile("[\udc80-\udcff]")
_MARKS = re.compile("[\U0010ff80-\U0010ffff]")
_SHIFT = 0x10FF80 - 0xDC80


class CsvFile(TableFile):
    """A table in a CSV file with a header; its delimiter is found in the header."""

    def batches(self, wanted: Collection[str] | None) -> Iterator[TableBatch]:
        """Yield the rows; see `TableFile`."""
        delimiter, columns = _header(self.path)
        feed = _Feed(self.path)
        rows = _Rows(columns, redact=self.redact)
        n_read = 1
        try:
            for block, is_last in _with_last(self._blocks(feed, delimiter, columns, rows)):
                is_open = is_last and feed.has_open_quote
                lines, frame = rows.placed(block, is_marked=feed.is_marked, is_open=is_open)
                batch = batch_of(lines, frame, wanted, redact=self.redact)
                batch.rejects = rows.take_rejects() + feed.take_rejects()
                batch.secrets += rows.take_secrets()
                n_read = int(batch.lines[-1]) if len(batch.lines) else n_read
                yield batch
        except pa.ArrowInvalid as error:
            rows.rejects.append(
                Reject(f"from here on not readable as CSV (an open quote?): {error}", n_read + 1)
            )
        rest = batch_of(*rows.placed(rows.none), wanted, redact=self.redact)
        rest.rejects = rows.take_rejects() + feed.take_rejects()
        rest.secrets = rows.take_secrets()
        yield rest

    @staticmethod
    def _blocks(
        feed: _Feed, delimiter: str, columns: list[str], rows: _Rows
    ) -> Iterator[pa.RecordBatch]:
        return iter(
            arrow_csv.open_csv(
                pa.PythonFile(feed, mode="r"),
                # The header is read as a row, so that rows are numbered from it.
                arrow_csv.ReadOptions(
                    block_size=_BLOCK_BYTES, use_threads=False, column_names=columns
                ),
                arrow_csv.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=False,
                    invalid_row_handler=rows.reject,
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(columns, pa.string()),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        )


class _Feed(io.BytesIO):
    """The bytes of a file.

    Attributes:
        is_marked: whether bytes that are not UTF-8 were found; see `_marked`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._blocks = line_blocks(path)
        self._rest = memoryview(b"")
        self._n_quotes = 0
        self.is_marked = False
        self._rejects: list[Reject] = []

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to so many bytes."""
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return b""
            data = block.data
            if block.reject is not None:
                self._rejects.append(block.reject)
                data = b"\n"
            data = bytes(data)
            self._n_quotes += data.count(b'"')
            try:
                data.decode()
            except UnicodeDecodeError:
                data, self.is_marked = _marked(data), True
            self._rest = memoryview(data)
        size = len(self._rest) if size is None or size < 0 else size
        part, self._rest = bytes(self._rest[:size]), self._rest[size:]
        return part

    @property
    def has_open_quote(self) -> bool:
        """Whether one of the quotes that were read has no partner."""
        return self._n_quotes % 2 == 1

    def take_rejects(self) -> list[Reject]:
        """Return the lines that were too long since the last call."""
        taken, self._rejects = self._rejects, []
        return taken


class _Rows:
    """Finds the lines of rows: pyarrow numbers the rows that it cannot split, and no others."""

    def __init__(self, columns: list[str], *, redact: bool) -> None:
        self._columns = columns
        self._redact = redact
        self._secrets: list[tuple[int, str]] = []
        self._invalid: list[tuple[int, int, str]] = []  # row, its line breaks, what is wrong
        self._raw: dict[int, bytes] = {}
        self._next_row = 1
        self._n_breaks = 0
        self.rejects: list[Reject] = []

    @property
    def none(self) -> pa.RecordBatch:
        """A block without rows."""
        schema = pa.schema([(name, pa.string()) for name in self._columns])
        return pa.RecordBatch.from_pylist([], schema)

    def reject(self, row: arrow_csv.InvalidRow) -> str:
        """Note a row with another number of fields."""
        reason = f"{row.actual_columns} fields in place of {row.expected_columns}"
        self._invalid.append((row.number, row.text.count("\n"), reason))
        self._raw[row.number] = _unmarked(row.text)
        return "skip"

    def take_rejects(self) -> list[Reject]:
        """Return the rejects since the last call."""
        taken, self.rejects = self.rejects, []
        return taken

    def take_secrets(self) -> list[tuple[int, str]]:
        """Return the secrets in rejected rows since the last call."""
        taken, self._secrets = self._secrets, []
        return taken

    def _reject(self, reason: str, line: int, raw: bytes) -> None:
        single = raw.replace(b'""', b'"')
        self._secrets += [(line, secret.kind) for secret in find_secrets(single)]
        self.rejects.append(Reject(reason, line, raw=redact_file(raw) if self._redact else raw))

    def placed(
        self, block: pa.RecordBatch, *, is_marked: bool = False, is_open: bool = False
    ) -> tuple[pl.Series, pl.DataFrame]:
        """Return the lines of the rows of a block, and its columns as text.

        Args:
            block: the next rows.
            is_marked: whether bytes that are not UTF-8 were found.
            is_open: whether they end the file and a quote is open, so that the last field may
                have swallowed the rest of the file.
        """
        frame = pl.DataFrame(block)
        marked = pl.any_horizontal(pl.all().str.contains(_MARKS.pattern)).fill_null(value=False)
        is_broken = np.zeros(len(frame), bool)
        if is_marked and len(frame):
            is_broken = frame.select(marked).to_series().to_numpy(writable=True)
        rows, is_last = self._numbers(len(frame)), not len(frame)
        invalid = [each for each in self._invalid if is_last or each[0] < rows[-1]]
        self._invalid = self._invalid[len(invalid) :]
        breaks = _line_breaks(frame)
        numbers = np.concatenate([rows, [row for row, _, _ in invalid]]).astype(np.int64)
        counts = np.concatenate([breaks, [n for _, n, _ in invalid]]).astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        before = np.empty_like(counts)
        before[order] = np.cumsum(counts[order]) - counts[order]
        lines = numbers + self._n_breaks + before
        self._n_breaks += int(counts.sum())
        for (row, _, reason), line in zip(invalid, lines[len(rows) :].tolist(), strict=True):
            self._reject(reason, line, self._raw.pop(row))
        lines = lines[: len(rows)]
        for at in np.flatnonzero(is_broken).tolist():
            self.rejects.append(Reject("not UTF-8", int(lines[at])))
        if is_open and "\n" in (frame[-1, -1] or ""):
            raw = json_text(frame.row(-1, named=True)).encode()
            self._reject("a quote is not closed", int(lines[-1]), raw)
            is_broken[-1] = True
        is_header = rows == 1
        is_blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
        kept = pl.Series(~(is_broken | is_header | is_blank))
        return pl.Series(lines).filter(kept), frame.filter(kept)

    def _numbers(self, n: int) -> np.ndarray:
        """Return the numbers of the next rows that could be split."""
        if not self._invalid:
            numbers = np.arange(self._next_row, self._next_row + n)
            self._next_row += n
            return numbers
        invalid = [row for row, _, _ in self._invalid]
        after = np.arange(self._next_row, self._next_row + n + len(invalid))
        numbers = np.setdiff1d(after, invalid)[:n]
        self._next_row = int(numbers[-1]) + 1 if n else self._next_row
        return numbers


def _with_last(blocks: Iterator[pa.RecordBatch]) -> Iterator[tuple[pa.RecordBatch, bool]]:
    """Yield each block, and whether it is the last one with rows."""
    filled = (block for block in blocks if len(block))
    previous = next(filled, None)
    while previous is not None:
        following = next(filled, None)
        yield previous, following is None
        previous = following


def _header(path: Path) -> tuple[str, list[str]]:
    with open_regular(path) as file:
        head = file.read(HEAD_BYTES)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnusableTableError("the text is UTF-16: save it as UTF-8")
    text = head.decode("utf-8-sig", "replace")
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        columns = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise UnusableTableError(f"the names of columns cannot be read: {error}") from error
    names = [name.strip() or f"column_{n}" for n, name in enumerate(columns, 1)]
    if not first.strip():
        raise UnusableTableError("the first line has no names of columns")
    if len(names) > MOST_COLUMNS:
        raise UnusableTableError(f"{len(names):,} columns; the limit is {MOST_COLUMNS:,}")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UnusableTableError(f"several columns are named {', '.join(repeated)}: rename them")
    return delimiter, names


def _marked(data: bytes) -> bytes:
    """Return UTF-8 with a private character for each byte that is not UTF-8."""
    text = data.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda found: chr(ord(found[0]) + _SHIFT), text).encode()


def _unmarked(text: str) -> bytes:
    """Return the bytes of which `_marked` made a text."""
    text = _MARKS.sub(lambda found: chr(ord(found[0]) - _SHIFT), text)
    return text.encode("utf-8", "surrogateescape")


def _line_breaks(frame: pl.DataFrame) -> np.ndarray:
    """Return the number of line breaks in the values of each row."""
    if not len(frame):
        return np.zeros(0, np.int64)
    counts = pl.all().str.count_matches("\n", literal=True).fill_null(0)
    return frame.select(pl.sum_horizontal(counts)).to_series().to_numpy().astype(np.int64)
