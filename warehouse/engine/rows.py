"""Rows of a query, or rows made in Python, in the one shape that all output formats accept.

DuckDB's Python client does not return every value unchanged: an INTERVAL loses its months,
nanoseconds are truncated, a FLOAT gains digits, an infinite DATE becomes the year 9999, and a
TIMESTAMP WITH TIME ZONE cannot be fetched without pytz. Columns of these types are therefore
converted to text by DuckDB itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

import duckdb

from warehouse.core.errors import BadInput
from warehouse.core.suggestions import did_you_mean
from warehouse.core.text.formatting import exact

if TYPE_CHECKING:
    import pyarrow as pa

Batch = list[tuple[object, ...]]
Parameters = Sequence[object] | dict[str, object]

BATCH = 256  # rows: with answers of 100 kB each, a batch is 26 MB
ARROW_BATCH = 32_768  # rows: a Parquet row group

_ISO = r"regexp_replace({}::VARCHAR, '^(\S+) (\S+)$', '\1T\2{}')"
# DuckDB 1.5.5 converts the latest times by a calendar that may refuse them, depending on the day.
_UTC = "make_timestamp(epoch_us({0}))"  # NULL for infinite times
_AS_TEXT = {
    "DATE": "{0}::VARCHAR",
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), _ISO.format("{0}", "")
    ),
    "TIMESTAMP WITH TIME ZONE": _ISO.format(f"coalesce({_UTC}, {{0}} AT TIME ZONE 'UTC')", "Z"),
    "TIMESTAMPTZ_NS": _ISO.format("({0} AT TIME ZONE 'UTC')", "Z"),
    "TIME_NS": "{0}::VARCHAR",
    "INTERVAL": "{0}::VARCHAR",
    "FLOAT": "{0}::VARCHAR::DOUBLE",
    "VARIANT": "to_json({0})",
}
_AS_PARQUET = {
    "INTERVAL": "{0}::VARCHAR",
    "TIME WITH TIME ZONE": "{0}::VARCHAR",
    "BIGNUM": "{0}::VARCHAR",
    "BIT": "{0}::VARCHAR",
    "VARIANT": "to_json({0})",
    "UNION": "to_json({0})",
}
_FINE_INSIDE = {"FLOAT", "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"}
_ZONED = re.compile(r"TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ_NS")
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UINTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)")
_WHOLE_VIEW = re.compile(r"FROM (\w+)\.(\w+)\s*")


@dataclass(frozen=True)
class Rows:
    """The input of a writer.

    Attributes:
        columns: unique names (`a`, `a_1`).
        types: DuckDB's type of each column as fetched; DOUBLE, VARCHAR or "" for rows made in
            Python.
        batches: runs the query and yields at most `BATCH` rows at a time.
        arrow: runs the query and returns a `pyarrow.RecordBatchReader`.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    batches: Callable[[], Iterator[Batch]]
    arrow: Callable[[], "pa.RecordBatchReader"]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column holds numbers, which are right-aligned."""
        return tuple(_NUMBER.fullmatch(kind) is not None for kind in self.types)


def pick(rows: Rows, names: Sequence[str]) -> Rows:
    """Return rows with only these columns, in this order.

    Raises:
        BadInput: there is no such column; the message names the similar ones.
    """
    for name in names:
        if name not in rows.columns:
            known = f"the columns are: {', '.join(rows.columns)}"
            raise BadInput(
                f"there is no column {name!r}; {did_you_mean(name, rows.columns, known)}"
            )
    places = [rows.columns.index(name) for name in names]

    def batches() -> Iterator[Batch]:
        for batch in rows.batches():
            yield [tuple(row[at] for at in places) for row in batch]

    def arrow() -> "pa.RecordBatchReader":
        import pyarrow as pa

        reader = rows.arrow()
        schema = pa.schema([reader.schema.field(at) for at in places])
        return pa.RecordBatchReader.from_batches(schema, (batch.select(places) for batch in reader))

    return Rows(tuple(names), tuple(rows.types[at] for at in places), batches, arrow)


def with_constant(rows: Rows, name: str, value: str) -> Rows:
    """Return rows with one more column, the last one, that has a text in every row."""
    columns = _unique([*rows.columns, name])

    def batches() -> Iterator[Batch]:
        for batch in rows.batches():
            yield [(*row, value) for row in batch]

    def arrow() -> "pa.RecordBatchReader":
        import pyarrow as pa

        reader = rows.arrow()
        schema = reader.schema.append(pa.field(columns[-1], pa.string()))
        more = (
            batch.append_column(columns[-1], pa.repeat(value, batch.num_rows)) for batch in reader
        )
        return pa.RecordBatchReader.from_batches(schema, more)

    return Rows(columns, (*rows.types, "VARCHAR"), batches, arrow)


def of_query(con: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters = ()) -> Rows:
    """Return the rows of a query, which runs when they are read.

    If there are several statements, all but the last run immediately, without the parameters.

    Raises:
        BadInput: the text contains no statement, or one whose rows cannot be fetched.
        duckdb.Error: the query is wrong.
    """
    statement = _last_statement(con, sql)
    try:
        described = _described(con, statement, parameters)
    except duckdb.Error:
        # Not a query (EXPLAIN, SET, CALL), or wrong: executing it raises the error if so.
        return _executed(con.execute(statement, parameters))
    columns = _unique(row[0] for row in described)
    types = tuple(row[1] for row in described)
    shown = tuple("JSON" if "to_json" in _cast(kind, _AS_TEXT) else kind for kind in types)

    def batches() -> Iterator[Batch]:
        query = _converted(statement, columns, types, _AS_TEXT)
        with _lines_as_written(query, statement):
            yield from _fetched(con.execute(query, parameters))

    def arrow() -> "pa.RecordBatchReader":
        query = _converted(statement, columns, types, _AS_PARQUET)
        with _lines_as_written(query, statement):
            return con.sql(query, params=parameters or None).to_arrow_reader(ARROW_BATCH)

    return Rows(columns, shown, batches, arrow)


def first_of_query(
    con: duckdb.DuckDBPyConnection,
    statement: str,
    parameters: Parameters,
    *,
    limit: int,
    max_characters: int,
) -> Rows:
    """Return the first rows of a query, with long values cut by DuckDB itself.

    Values that may be long (texts, JSON, lists, structs, bytes) become text of at most one more
    character than allowed, so that the reader sees which were longer.

    Args:
        con: where the query runs.
        statement: the query, one statement.
        parameters: its parameters.
        limit: maximum number of rows.
        max_characters: allowed characters of a value.

    Raises:
        duckdb.Error: the query is wrong.
    """
    statement = without_semicolon(statement)
    try:
        described = _described(con, statement, parameters)
    except duckdb.Error:  # DESCRIBE itself, or wrong: executing it raises the error if so
        return _executed(con.execute(statement, parameters))
    columns = _unique(row[0] for row in described)
    types = tuple(row[1] for row in described)
    selected = ", ".join(
        f"{_bounded(kind, max_characters + 1).format(f'#{n}')} AS {_identifier(name)}"
        for n, (name, kind) in enumerate(zip(columns, types, strict=True), start=1)
    )
    query = f"SELECT {selected} FROM (\n{statement}\n) LIMIT {limit}"  # noqa: S608 - the user's own query

    def batches() -> Iterator[Batch]:
        with _lines_as_written(query, statement):
            yield from _fetched(con.execute(query, parameters))

    return Rows(columns, types, batches, lambda: _to_arrow(columns, batches()))


def of_values(columns: Sequence[str], values: Iterable[Sequence[object]]) -> Rows:
    """Return rows made in Python; they are read once, and only as far as needed."""
    rows = map(tuple, values)
    first = list(islice(rows, BATCH))

    def batches() -> Iterator[Batch]:
        batch = first
        while batch:
            yield batch
            batch = list(islice(rows, BATCH))

    types = tuple(_guessed([row[at] for row in first]) for at in range(len(columns)))
    names = _unique(columns)
    return Rows(names, types, batches, lambda: _to_arrow(names, batches()))


def _described(
    con: duckdb.DuckDBPyConnection, statement: str, parameters: Parameters
) -> list[tuple[str, ...]]:
    """Return name and type of each column, and more."""
    if view := _WHOLE_VIEW.fullmatch(statement):
        # The catalog knows; DESCRIBE would plan the view, a tenth of a second for large ones.
        columns = con.execute(
            "SELECT column_name, data_type FROM duckdb_columns() "
            "WHERE database_name = current_database() AND schema_name = ? AND table_name = ? "
            "ORDER BY column_index",
            view.groups(),
        ).fetchall()
        if columns:
            return columns
    return con.execute(f"DESCRIBE {statement}", parameters).fetchall()


def _last_statement(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    statements = [statement.query for statement in con.extract_statements(sql)]
    if not statements:
        raise BadInput("the SQL text contains no statement")
    for statement in statements[:-1]:
        con.execute(statement)
    return without_semicolon(statements[-1])


def without_semicolon(statement: str) -> str:
    """Return a statement up to its final semicolon, without the comments that may follow it."""
    if ";" not in statement:
        return statement  # most have none, and the first use of the tokenizer takes 2 ms
    raw = statement.encode()  # the tokenizer counts bytes
    ends = (at for at, _ in duckdb.tokenize(statement) if raw[at : at + 1] == b";")
    return raw[: next(ends, len(raw))].decode()


def _converted(
    statement: str, columns: Iterable[str], types: Sequence[str], casts: dict[str, str]
) -> str:
    expressions = [_cast(kind, casts).format(f"#{n}") for n, kind in enumerate(types, start=1)]
    if all(expression.startswith("#") and "::" not in expression for expression in expressions):
        return statement
    named = (f"{e} AS {_identifier(name)}" for e, name in zip(expressions, columns, strict=True))
    # On separate lines: errors quote the line, and the statement may end with a comment.
    return f"SELECT {', '.join(named)} FROM (\n{statement}\n)"  # noqa: S608 - the user's own query


@contextmanager
def _lines_as_written(query: str, statement: str) -> Iterator[None]:
    """Number lines in errors as in the user's statement, which begins on line 2 if converted."""
    try:
        yield
    except duckdb.Error as error:
        if query == statement:
            raise
        text = re.sub(r"(?m)^LINE (\d+)(?=:)", lambda line: f"LINE {int(line[1]) - 1}", str(error))
        raise type(error)(text) from error


def _cast(kind: str, casts: dict[str, str]) -> str:
    if kind in casts:
        return casts[kind]
    # A list, struct or map that contains such a type becomes JSON, unless Python's value of it is
    # right but for infinity (dates, times) or only longer than necessary (FLOAT).
    inner = "|".join(re.escape(name) for name in casts if name not in _FINE_INSIDE)
    nested = "(" in kind or kind.endswith("]")
    return "to_json({0})" if nested and re.search(rf"\b({inner})\b", kind) else "{0}"


def _bounded(kind: str, length: int) -> str:
    """Return the expression for a column, as text of so many characters if it may be long."""
    if kind == "BLOB":
        return f"lower(left(hex({{0}}), {length}))"
    if kind in {"VARCHAR", "JSON", "BIT", "BIGNUM", "GEOMETRY"} or kind.startswith("ENUM("):
        return f"left({{0}}::VARCHAR, {length})"
    if kind == "VARIANT" or (("(" in kind or kind.endswith("]")) and not _NUMBER.fullmatch(kind)):
        return f"left(to_json({{0}})::VARCHAR, {length})"
    return _cast(kind, _AS_TEXT)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _fetched(con: duckdb.DuckDBPyConnection) -> Iterator[Batch]:
    while batch := con.fetchmany(BATCH):
        yield batch


def _executed(con: duckdb.DuckDBPyConnection) -> Rows:
    description = con.description or []
    columns = _unique(column[0] for column in description)
    types = tuple(str(column[1]) for column in description)
    for name, kind in zip(columns, types, strict=True):
        if _ZONED.search(kind):
            raise BadInput(
                f"column {name!r} has times with a zone, which only a SELECT can return: begin the "
                "query with SELECT or FROM"
            )
    return Rows(columns, types, lambda: _fetched(con), lambda: _to_arrow(columns, _fetched(con)))


def _to_arrow(columns: Sequence[str], batches: Iterable[Batch]) -> "pa.RecordBatchReader":
    import pyarrow as pa  # takes 80 ms; needed for Parquet only

    rows = [row for batch in batches for row in batch]
    arrays = [_array([row[at] for row in rows]) for at in range(len(columns))]
    return pa.Table.from_arrays(arrays, names=list(columns)).to_reader(ARROW_BATCH)


def _array(values: list[object]) -> "pa.Array":
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several kinds
        return pa.array([None if value is None else exact(value) for value in values])


def _guessed(values: Iterable[object]) -> str:
    known = next((value for value in values if value is not None), None)
    if known is None:
        return ""
    number = isinstance(known, int | float | Decimal) and not isinstance(known, bool)
    return "DOUBLE" if number else "VARCHAR"


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """Return unique names as `CREATE TABLE AS` would give them: a, a_1, a_2."""
    seen: dict[str, None] = {}
    for name in names:
        free, count = name, 0
        while free in seen:
            count += 1
            free = f"{name}_{count}"
        seen[free] = None
    return tuple(seen)
