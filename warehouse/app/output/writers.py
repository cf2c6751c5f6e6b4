r"""Rows on standard output or in a file, in the formats of `--format`.

Every format except a table on a terminal is exact (`core.text.formatting` defines the text of
values), is streamed, and is UTF-8 with `\n` line ends:

    table     human-readable; complete unless the output is a terminal (`app.output.tables`)
    csv       RFC 4180 quoting. NULL is empty and empty text is `""`; in a table with one column
              NULL is `""` too, because readers skip empty lines. Text is written unchanged, even
              if a spreadsheet would read it as a formula (`=`, `+`, `-`, `@`)
    json      one array; NULL, NaN and infinities are null; columns of type JSON are embedded
    jsonl     the same objects, one per line
    parquet   zstd; types as in the database, as far as Parquet has them
    markdown  a GitHub-flavored table; markup in the data is escaped
    html      a self-contained page without scripts; markup in the data is escaped
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from warehouse.app.output.tables import table
from warehouse.app.output.terminal import (
    Layout,
    Screen,
    quiet_pipe,
    screen,
    write_all,
    write_paged,
)
from warehouse.core.errors import BadInput
from warehouse.core.text import formatting
from warehouse.engine.rows import Batch, Parameters, Rows, of_query, of_values, pick, with_constant

if TYPE_CHECKING:
    import duckdb

TextWriter = Callable[[Rows, Screen], Iterator[str]]
Writer = Callable[[Rows, Screen], Iterator[bytes]]


def write_query(
    con: "duckdb.DuckDBPyConnection",
    sql: str,
    fmt: str,
    out: BinaryIO,
    *,
    note: Callable[[str], None],
    parameters: Parameters = (),
    layout: Layout | None = None,
) -> None:
    """Run a query and write its rows; stop quietly if the reader closes the pipe.

    Args:
        con: an open connection; its pending result, if any, is discarded.
        sql: one or more statements; the rows of the last one are written.
        fmt: a key of `FORMATS`.
        out: standard output's binary stream, or a file; it is not closed.
        note: called with each remark about the output, a sentence.
        parameters: the values of `?` or `$name` in the last statement.
        layout: how a table is shown, and which columns are written.

    Raises:
        BadInput: the format or a column is unknown, there is no statement, or Parquet would go to
            a terminal.
        duckdb.Error: the query failed; rows may have been written before.
    """
    _check(fmt, out)
    _write(of_query(con, sql, parameters), fmt, out, on_note=note, layout=layout or Layout())


def write_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    fmt: str,
    out: BinaryIO,
    *,
    note: Callable[[str], None],
    layout: Layout | None = None,
) -> None:
    """Write rows made in Python, like `write_query`.

    Raises:
        BadInput: the format or a column is unknown, or Parquet would go to a terminal.
    """
    _check(fmt, out)
    _write(of_values(columns, rows), fmt, out, on_note=note, layout=layout or Layout())


def _check(fmt: str, out: BinaryIO) -> None:
    if fmt not in FORMATS:
        raise BadInput(f"unknown format {fmt!r}; the formats are: {', '.join(FORMATS)}")
    if fmt == "parquet" and out.isatty():
        raise BadInput("Parquet is binary and cannot be shown on a terminal; add `> FILE.parquet`")


def _write(
    rows: Rows, fmt: str, out: BinaryIO, *, on_note: Callable[[str], None], layout: Layout
) -> None:
    notes: list[str] = []  # until the pager, if any, has gone
    chosen = pick(rows, layout.columns) if layout.columns else rows
    if layout.left_out:
        chosen = with_constant(chosen, "left_out", layout.left_out)
    with quiet_pipe(out):
        chunks = FORMATS[fmt](chosen, screen(out, notes.append, layout))
        if fmt == "table" and layout.is_paged:
            write_paged(chunks, out)
        else:
            write_all(chunks, out)
    for text in notes:
        on_note(text)


def _encoded(writer: TextWriter) -> Writer:
    r"""Return a writer of UTF-8; lone surrogates are escaped as `\udXXX`, which is valid JSON."""

    def write(rows: Rows, screen: Screen) -> Iterator[bytes]:
        for text in writer(rows, screen):
            yield text.encode("utf-8", "backslashreplace")

    return write


def _csv(rows: Rows, screen: Screen) -> Iterator[str]:
    # On a terminal it is read by a person, and a model's text must not control the terminal.
    show = formatting.visible if screen.width is not None else str
    yield _csv_lines([rows.columns], show)
    for batch in rows.batches():
        yield _csv_lines(batch, show)


def _csv_lines(batch: Iterable[Sequence[object]], show: Callable[[str], str]) -> str:
    return "".join(
        (",".join([_csv_cell(value, show) for value in row]) or '""') + "\n" for row in batch
    )


def _csv_cell(value: object, show: Callable[[str], str]) -> str:
    # Python 3.11's csv writer cannot distinguish NULL from empty text.
    if value is None:
        return ""
    text = show(formatting.exact(value))
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _json(rows: Rows, _: Screen) -> Iterator[str]:
    yield "["
    separator = "\n"
    for batch in rows.batches():
        yield separator + ",\n".join(_objects(rows, batch))
        separator = ",\n"
    yield "\n]\n"


def _jsonl(rows: Rows, _: Screen) -> Iterator[str]:
    for batch in rows.batches():
        yield "".join(line + "\n" for line in _objects(rows, batch))


def _objects(rows: Rows, batch: Batch) -> Iterator[str]:
    keys = [formatting.as_json(name) for name in rows.columns]
    shapes = [_json_column if kind == "JSON" else formatting.as_json for kind in rows.types]
    for row in batch:
        members = zip(keys, shapes, row, strict=True)
        yield "{" + ", ".join([f"{key}: {shape(value)}" for key, shape, value in members]) + "}"


def _json_column(value: object) -> str:
    return formatting.document(value) if isinstance(value, str) else formatting.as_json(value)


def _markdown(rows: Rows, _: Screen) -> Iterator[str]:
    rule = ["---:" if numeric else "---" for numeric in rows.numeric]
    yield _markdown_line(map(formatting.markdown, rows.columns)) + _markdown_line(rule)
    for batch in rows.batches():
        yield "".join(_markdown_line(map(formatting.markdown, row)) for row in batch)


def _markdown_line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |\n"


def _html(rows: Rows, _: Screen) -> Iterator[str]:
    from warehouse.app.output.html import stream_table

    return stream_table("evalstore", rows.columns, rows.batches(), rows.numeric)


class _MemoryFile(io.RawIOBase):
    """A file in memory whose content is taken in parts; has a position, which Parquet records."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._at

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        """Keep a copy of the data, and return its length."""
        self._parts.append(bytes(data))
        self._at += len(self._parts[-1])
        return len(self._parts[-1])

    def take(self) -> bytes:
        """Return and remove the bytes written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _parquet(rows: Rows, _: Screen) -> Iterator[bytes]:
    import pyarrow as pa  # takes 110 ms; needed for Parquet only
    import pyarrow.parquet as pq

    sink = _MemoryFile()
    with rows.arrow() as reader:
        schema = reader.schema
        if schema.names != list(rows.columns):
            schema = schema.empty_table().rename_columns(list(rows.columns)).schema
        try:
            writer = pq.ParquetWriter(sink, schema, compression="zstd")
        except pa.ArrowNotImplementedError as error:
            raise BadInput(
                f"Parquet has no such type of column ({str(error).rstrip('.')}); cast the column, "
                "or leave it out"
            ) from error
        with writer:
            for batch in reader:
                writer.write_batch(batch.rename_columns(list(rows.columns)))
                yield sink.take()
    yield sink.take()


FORMATS: dict[str, Writer] = {
    "table": _encoded(table),
    "csv": _encoded(_csv),
    "json": _encoded(_json),
    "jsonl": _encoded(_jsonl),
    "parquet": _parquet,
    "markdown": _encoded(_markdown),
    "html": _encoded(_html),
}
