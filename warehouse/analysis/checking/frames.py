"""The smallest frame on which an expectation has the same result as on all rows.

DuckDB selects it, Great Expectations evaluates it. Millions of rows are thus checked in seconds,
and columns that no expectation names are never read.

    expectation about       frame
    each row separately     the distinct values of its columns, with their number of rows;
                            if the relation has few rows, all of them, read once for all such
                            expectations
    NULL in a column        one NULL, if there is any
    uniqueness              the values that repeat, twice each
    the number of rows      as many rows, without columns
    the names of columns    all columns, without rows
    anything else           all rows of its columns
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from warehouse.engine.rows import of_query, without_semicolon

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb
    import pandas as pd
    import pyarrow as pa

    from warehouse.analysis.checking.expectations import Expectation, Relation
    from warehouse.core.types import Row

# Rows in a sample of offending rows.
SAMPLE: Final = 5

_BY_ROW: Final = frozenset(
    (
        "expect_column_pair_values_a_to_be_greater_than_b",
        "expect_column_pair_values_to_be_equal",
        "expect_column_pair_values_to_be_in_set",
        "expect_column_value_lengths_to_be_between",
        "expect_column_value_lengths_to_equal",
        "expect_column_values_to_be_between",
        "expect_column_values_to_be_in_set",
        "expect_column_values_to_be_json_parseable",
        "expect_column_values_to_be_null",
        "expect_column_values_to_match_json_schema",
        "expect_column_values_to_match_like_pattern",
        "expect_column_values_to_match_like_pattern_list",
        "expect_column_values_to_match_regex",
        "expect_column_values_to_match_regex_list",
        "expect_column_values_to_match_strftime_format",
        "expect_column_values_to_not_be_in_set",
        "expect_column_values_to_not_match_like_pattern",
        "expect_column_values_to_not_match_like_pattern_list",
        "expect_column_values_to_not_match_regex",
        "expect_column_values_to_not_match_regex_list",
        "expect_multicolumn_sum_to_equal",
        "expect_select_column_values_to_be_unique_within_record",
    )
)
_REPEATING: Final = frozenset(
    ("expect_column_values_to_be_unique", "expect_compound_columns_to_be_unique")
)
_NO_NULL: Final = "expect_column_values_to_not_be_null"
_COUNT: Final = "expect_table_row_count_"
_NO_ROWS: Final = ("expect_table_", "expect_column_to_exist")
# Up to this number of rows, one frame of all of them is read in place of one per expectation, and
# frames of alike expectations are evaluated as one.
FEW_ROWS: Final = 1_000
_EACH = "__rows"  # the number of rows with these values; a name that no real column has


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The rows that an expectation is evaluated on, numbered from 0.

    Attributes:
        values: the expectation's columns of these rows, as DuckDB returned them; None if the frame
            has no columns or rows.
        n_rows: how many rows a frame without columns has.
        columns: the columns of a frame without rows.
        weights: for each row, how many rows of the relation have these values; None if the frame
            has every row of the relation.
        rows: for each row, the relation's key and columns as a sample shows them; None if they have
            to be read.
    """

    values: pa.Table | None = field(default=None, repr=False)
    n_rows: int = 0
    columns: Sequence[str] = ()
    weights: Sequence[int] | None = None
    rows: Sequence[Row] | None = field(default=None, repr=False)

    @property
    def data(self) -> pd.DataFrame:
        """The rows as Great Expectations takes them."""
        import pandas as pd

        if self.values is not None:
            return to_pandas(self.values)
        return pd.DataFrame(index=range(self.n_rows), columns=list(self.columns))


class RelationRows:
    """The rows of a relation, while the warehouse is open."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        relation: Relation,
        types_of_views: Mapping[str, dict[str, str]],
    ) -> None:
        """Prepare the rows; nothing is read yet."""
        self._connection = connection
        self._relation = relation
        self._query = f"({without_semicolon(relation.query)}\n)"
        self._table = self._query
        self._shown = self._query
        self._types_of_views = types_of_views

    @cached_property
    def types(self) -> dict[str, str]:
        """DuckDB's type of each column.

        Raises:
            duckdb.Error: the query is wrong.
        """
        # Planning the views is most of the work, so each one is planned as rarely as possible.
        view = self._relation.view
        known = self._types_of_views.get(view if "." in view else f"main.{view}")
        if known is not None:
            return known
        rows = self._connection.sql(f"FROM {self._query}")
        return {name: str(kind) for name, kind in zip(rows.columns, rows.types, strict=True)}

    def keep(self) -> None:
        """Compute the columns that expectations name, once for all of them.

        A view would otherwise be computed for each one; tables of the lake are read directly. A
        view's key is kept too, so that samples do not compute it again; queries may have many rows.
        If no columns are named, a few rows are computed: both their number and a sample.
        """
        self._connection.execute("DROP TABLE IF EXISTS relation_columns")
        expected = self._relation.expectations
        columns = {name for expectation in expected for name in expectation.columns}
        if self._relation.is_table:
            return
        if not columns:
            self._keep_few_rows()
            return
        key = self._relation.key
        if self._relation.view or any(_is_of_all_rows(expectation) for expectation in expected):
            columns |= set(key)
        names = _list(name for name in self.types if name in columns)
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE relation_columns AS SELECT {names} FROM {self._query}"
        )
        self._table = "relation_columns"
        if key and columns.issuperset(key):
            self._shown = "relation_columns"

    def _keep_few_rows(self) -> None:
        names = _list(self._relation.key) or "*"
        self._connection.execute(
            "CREATE OR REPLACE TEMP TABLE relation_columns AS "
            f"SELECT {names} FROM {self._query} LIMIT {FEW_ROWS + 1}"
        )
        [(n,)] = self._connection.execute("SELECT count(*) FROM relation_columns").fetchall()
        if n <= FEW_ROWS:
            self._table = self._shown = "relation_columns"

    def count(self) -> int:
        """Return the number of rows."""
        [(n,)] = self._connection.execute(f"SELECT count(*) FROM {self._table}").fetchall()
        return int(n)

    def frames(self, n_rows: int) -> list[Frame]:
        """Return the frame for each expectation of the relation, whose columns must exist.

        Args:
            n_rows: number of rows of the relation.
        """
        expected = self._relation.expectations
        without_null = self._without_null(expected)
        together = [e for e in expected if n_rows <= FEW_ROWS and is_by_row(e)]
        shared = self._shared(together) if n_rows and len(together) > 1 else None
        rows = None if shared is None else self._rows_to_show(together, n_rows)
        frames = []
        for expectation in expected:
            is_vacuous = n_rows == 0 and _is_of_values(expectation)
            if is_vacuous or (
                expectation.type == _NO_NULL
                and "mostly" not in expectation.kwargs
                and without_null.issuperset(expectation.columns)
            ):
                frames.append(Frame(weights=()))
            elif shared is not None and is_by_row(expectation):
                values = shared.select(list(expectation.columns))
                frames.append(Frame(values=values, weights=[1] * n_rows, rows=rows))
            else:
                frames.append(self._frame(expectation, n_rows))
        return frames

    def _without_null(self, expected: Iterable[Expectation]) -> set[str]:
        """Return those columns without NULL that are expected to have none."""
        columns = list(dict.fromkeys(c for e in expected if e.type == _NO_NULL for c in e.columns))
        if not columns:
            return set()
        complete = ", ".join(f"count(*) = count({_quoted(column)})" for column in columns)
        [row] = self._connection.execute(f"SELECT {complete} FROM {self._table}").fetchall()
        return {column for column, is_complete in zip(columns, row, strict=True) if is_complete}

    def _shared(self, expected: Iterable[Expectation]) -> pa.Table:
        """Return all rows of the columns of several expectations."""
        names = _list(dict.fromkeys(name for e in expected for name in e.columns))
        return self._read(f"SELECT {names} FROM {self._table}")

    def _rows_to_show(self, expected: Iterable[Expectation], n_rows: int) -> list[Row] | None:
        """Return all rows of a relation of few rows, if its key was kept with its columns."""
        if self._shown != self._table:
            return None
        columns = dict.fromkeys((*self._relation.key, *(c for e in expected for c in e.columns)))
        return self._rows(columns=columns, limit=n_rows)

    def _frame(self, expectation: Expectation, n_rows: int) -> Frame:
        if expectation.type.startswith(_COUNT):
            return Frame(n_rows=n_rows)
        if expectation.type.startswith(_NO_ROWS):
            return Frame(columns=list(self.types))
        names = _list(expectation.columns)
        if _is_of_all_rows(expectation):
            shown = _list(dict.fromkeys((*self._relation.key, *expectation.columns)))
            return Frame(values=self._read(f"SELECT {shown} FROM {self._table}"))
        kept = f"WHERE {names} IS NULL" if expectation.type == _NO_NULL else ""
        groups = f"SELECT {names}, count(*) AS {_EACH} FROM {self._table} {kept} GROUP BY {names}"
        if expectation.type in _REPEATING:
            # The second copy has weight 0: its rows are counted already.
            groups = f"""
                SELECT {names}, if(copy = 0, {_EACH}, 0) AS {_EACH}
                FROM ({groups} HAVING count(*) > 1), range(2) AS copies (copy)
            """
        read = self._read(groups)
        weights = read.column(_EACH).to_pylist()
        return Frame(values=read.drop_columns([_EACH]), weights=weights)

    def rows_with(self, values: pa.Table) -> list[Row]:
        """Return a few rows of the relation that have the values of any of the given rows."""
        columns = values.column_names
        same = " AND ".join(f"{_quoted(name)} IS NOT DISTINCT FROM ?" for name in columns)
        rows = values.to_pylist()
        return self._rows(
            f"WHERE {' OR '.join([f'({same})'] * len(rows))}",
            dict.fromkeys((*self._relation.key, *columns)) if self._relation.key else (),
            [row[name] for row in rows for name in columns],
        )

    def rows(self) -> list[Row]:
        """Return a few rows of the relation: the columns of its key, or all columns."""
        return self._rows(columns=self._relation.key)

    def _rows(
        self,
        where: str = "",
        columns: Iterable[str] = (),
        values: Sequence[object] = (),
        limit: int = SAMPLE,
    ) -> list[Row]:
        query = f"SELECT {_list(columns) or '*'} FROM {self._shown} {where} LIMIT {limit}"
        rows = of_query(self._connection, query, values)
        return [
            dict(zip(rows.columns, row, strict=True)) for chunk in rows.batches() for row in chunk
        ]

    def _read(self, query: str) -> pa.Table:
        return self._connection.sql(query).to_arrow_table()


def _is_of_all_rows(expectation: Expectation) -> bool:
    """Return whether the result depends on every row, not only on the distinct values."""
    if expectation.type.startswith((_COUNT, *_NO_ROWS)):
        return False
    return not _is_of_values(expectation)


def _is_of_values(expectation: Expectation) -> bool:
    """Return whether the result depends on the values that some or each of the rows has."""
    # `mostly` is a share of all rows.
    return (
        expectation.type in _BY_ROW | _REPEATING | {_NO_NULL} and "mostly" not in expectation.kwargs
    )


def is_by_row(expectation: Expectation) -> bool:
    """Return whether it is met exactly if each row alone meets it."""
    return expectation.type in _BY_ROW and _is_of_values(expectation)


def types_of_views(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return DuckDB's type of each column of each view and table, by schema and name.

    The catalog has them; asking for those of a single view would plan it.
    """
    rows = connection.execute(
        "SELECT schema_name || '.' || table_name, column_name, data_type "
        "FROM duckdb_columns() WHERE NOT internal ORDER BY column_index"
    ).fetchall()
    types: dict[str, dict[str, str]] = {}
    for view, column, kind in rows:
        types.setdefault(view, {})[column] = kind
    return types


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return rows as pandas has them, numbered from 0."""
    # Integers stay integers in columns with NULL: doubles would round those beyond 2^53.
    return table.to_pandas(integer_object_nulls=True, date_as_object=False)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
