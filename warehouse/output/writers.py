r"""Rows on standard output or in a file, in the formats of `--format`.

Every format but a table on a terminal is exact (`warehouse.output.formatting` says how values are
written), streams, and is UTF-8 with `\n` line ends:

    table     for people; in full unless the output is a terminal
    csv       RFC 4180 quoting. NULL is empty and empty text is `""`, except that the NULL of a
              table with one column is `""` too: readers skip empty lines. Text is written as it
              is, also where a spreadsheet would take it for a formula (`=`, `+`, `-`, `@`)
    json      one array; NULL, NaN and infinities are null; columns of type JSON are embedded
    jsonl     the same objects, one in a line
    parquet   zstd; types as in the database, as far as Parquet has them
    markdown  a table that GitHub and others render, without any markup of the data's own
    html      a page that holds all it needs and runs nothing, whatever the data say
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from warehouse.errors import BadInput
from warehouse.output import formatting
from warehouse.output.html import stream_table
from warehouse.output.rows import Batch, Parameters, Rows, of_query, of_values
from warehouse.output.terminal import Screen, quiet_pipe, screen, table

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
) -> None:
    """Runs a query and writes its rows; ends quietly if nobody reads on.

    Args:
        con: an open connection; its running result, if any, is given up.
        sql: one statement or several, of which the last gives the rows.
        fmt: a key of `FORMATS`.
        out: standard output's binary stream, or a file; it stays open.
        note: takes what the reader should know besides the rows, a sentence at a time.
        parameters: the values of `?` or `$name` in the last statement.

    Raises:
        BadInput: no such format, no statement, or Parquet for a terminal.
        duckdb.Error: the query failed; rows written before stay written.
    """
    _check(fmt, out)
    _write(of_query(con, sql, parameters), fmt, out, note)


def write_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    fmt: str,
    out: BinaryIO,
    *,
    note: Callable[[str], None],
) -> None:
    """Writes rows that Python has made, like `write_query`.

    Raises:
        BadInput: no such format, or Parquet for a terminal.
    """
    _check(fmt, out)
    _write(of_values(columns, rows), fmt, out, note)


def _check(fmt: str, out: BinaryIO) -> None:
    if fmt not in FORMATS:
        raise BadInput(f"there is no format {fmt!r}; choose from {', '.join(FORMATS)}")
    if fmt == "parquet" and out.isatty():
        raise BadInput("Parquet is binary and a terminal cannot show it: add `> FILE.parquet`")


def _write(rows: Rows, fmt: str, out: BinaryIO, note: Callable[[str], None]) -> None:
    with quiet_pipe(out):
        for chunk in FORMATS[fmt](rows, screen(out, note)):
            out.write(chunk)
            out.flush()  # whoever reads the pipe sees rows as they come


def _encoded(writer: TextWriter) -> Writer:
    r"""UTF-8; a lone surrogate, which has no UTF-8, is spelled `\udXXX` (valid inside JSON)."""

    def write(rows: Rows, screen: Screen) -> Iterator[bytes]:
        for text in writer(rows, screen):
            yield text.encode("utf-8", "backslashreplace")

    return write


def _csv(rows: Rows, screen: Screen) -> Iterator[str]:
    # On a terminal nothing but a person reads it, and model text must not control the terminal.
    show = formatting.visible if screen.width is not None else str
    yield _csv_lines([rows.columns], show)
    for batch in rows.batches():
        yield _csv_lines(batch, show)


def _csv_lines(batch: Iterable[Sequence[object]], show: Callable[[str], str]) -> str:
    return "".join(
        (",".join([_csv_cell(value, show) for value in row]) or '""') + "\n" for row in batch
    )


def _csv_cell(value: object, show: Callable[[str], str]) -> str:
    # Python 3.11's csv writer cannot tell NULL from empty text.
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
    return stream_table("evalstore", rows.columns, rows.batches(), rows.numeric)


class _Collected(io.RawIOBase):
    """Takes what is written and hands it on; counts, because Parquet notes its offsets."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        self._parts.append(bytes(data))
        self._at += len(self._parts[-1])
        return len(self._parts[-1])

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _parquet(rows: Rows, _: Screen) -> Iterator[bytes]:
    import pyarrow.parquet as pq  # 110 ms that only Parquet has to pay

    sink = _Collected()
    with rows.arrow() as reader:
        schema = reader.schema
        if schema.names != list(rows.columns):
            schema = schema.empty_table().rename_columns(list(rows.columns)).schema
        with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
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
