"""The rows of a query or of our own making, as every output format takes them.

Python's view of a DuckDB value is not always the value: an INTERVAL loses its months, nanoseconds
are cut, a FLOAT grows digits, and a TIMESTAMP WITH TIME ZONE cannot be fetched at all where pytz
is missing. DuckDB itself writes those types as text, column by column, only where they occur.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.errors import BadInput
from warehouse.output.formatting import exact

if TYPE_CHECKING:
    import pyarrow as pa

Batch = list[tuple[Any, ...]]
Parameters = Sequence[object] | dict[str, object]

BATCH = 256  # rows: answers of 100 kB each still fit into memory many times over
ARROW_BATCH = 32_768  # rows: a Parquet row group

_ISO = r"regexp_replace({}::VARCHAR, '^(\S+) (\S+)$', '\1T\2{}')"
_AS_TEXT = {
    "TIMESTAMP WITH TIME ZONE": _ISO.format("({0} AT TIME ZONE 'UTC')", "Z"),
    "TIMESTAMP_NS": _ISO.format("{0}", ""),
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
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UINTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)")


@dataclass(frozen=True)
class Rows:
    """What a writer gets to see.

    Attributes:
        columns: the names, each once (`a`, `a_1`).
        types: DuckDB's type of each column as fetched; for our own rows DOUBLE, VARCHAR or "".
        batches: runs the query and gives at most `BATCH` rows at a time.
        arrow: runs the query and gives a `pyarrow.RecordBatchReader`.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    batches: Callable[[], Iterator[Batch]]
    arrow: Callable[[], "pa.RecordBatchReader"]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers: those are right-aligned."""
        return tuple(_NUMBER.fullmatch(kind) is not None for kind in self.types)


def of_query(con: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters = ()) -> Rows:
    """Returns the rows of a query, which runs when they are asked for.

    Of several statements all but the last run at once; the parameters belong to the last.

    Raises:
        BadInput: there is no statement.
        duckdb.Error: the query is wrong; the message is DuckDB's own.
    """
    statement = _last_statement(con, sql)
    try:
        con.execute(f"DESCRIBE {statement}", parameters)
    except duckdb.Error:
        # Not a query (EXPLAIN, SET, CALL), or wrong: the statement itself tells which.
        return _executed(con.execute(statement, parameters))
    described = con.fetchall()
    columns = _unique(row[0] for row in described)
    types = tuple(row[1] for row in described)
    shown = tuple("JSON" if "to_json" in _cast(kind, _AS_TEXT) else kind for kind in types)

    def batches() -> Iterator[Batch]:
        return _fetched(con.execute(_converted(statement, columns, types, _AS_TEXT), parameters))

    def arrow() -> "pa.RecordBatchReader":
        query = _converted(statement, columns, types, _AS_PARQUET)
        return con.sql(query, params=parameters or None).to_arrow_reader(ARROW_BATCH)

    return Rows(columns, shown, batches, arrow)


def of_values(columns: Sequence[str], values: Iterable[Sequence[object]]) -> Rows:
    """Returns rows that Python has made; they are read once, and only as far as needed."""
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


def _last_statement(con: duckdb.DuckDBPyConnection, sql: str) -> str:
    statements = [statement.query for statement in con.extract_statements(sql)]
    if not statements:
        raise BadInput("there is no SQL statement to run")
    for statement in statements[:-1]:
        con.execute(statement)
    return _without_semicolon(statements[-1])


def _without_semicolon(statement: str) -> str:
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
    # The line break ends a comment that the statement may end with.
    return f"SELECT {', '.join(named)} FROM ({statement}\n)"  # noqa: S608 - a query of the user's


def _cast(kind: str, casts: dict[str, str]) -> str:
    if kind in casts:
        return casts[kind]
    # Inside a list, struct or map the whole column becomes JSON. A FLOAT there is exact already,
    # only longer than need be.
    inner = "|".join(re.escape(name) for name in casts if name != "FLOAT")
    nested = "(" in kind or kind.endswith("]")
    return "to_json({0})" if nested and re.search(rf"\b({inner})\b", kind) else "{0}"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _fetched(con: duckdb.DuckDBPyConnection) -> Iterator[Batch]:
    while batch := con.fetchmany(BATCH):
        yield batch


def _executed(con: duckdb.DuckDBPyConnection) -> Rows:
    description = con.description or []
    columns = _unique(column[0] for column in description)
    types = tuple(str(column[1]) for column in description)
    return Rows(columns, types, lambda: _fetched(con), lambda: _to_arrow(columns, _fetched(con)))


def _to_arrow(columns: Sequence[str], batches: Iterable[Batch]) -> "pa.RecordBatchReader":
    import pyarrow as pa  # 80 ms that only Parquet has to pay

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
    """As DuckDB names the columns of a table made from such a query: a, a_1, a_2."""
    seen: dict[str, None] = {}
    for name in names:
        free, count = name, 0
        while free in seen:
            count += 1
            free = f"{name}_{count}"
        seen[free] = None
    return tuple(seen)
