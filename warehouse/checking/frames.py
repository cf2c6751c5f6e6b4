"""The smallest frame on which an expectation has the same result as on all rows.

DuckDB selects it, Great Expectations evaluates it. So millions of rows are checked in seconds,
and columns that no expectation names are never read.

    expectation about       frame
    each row by itself      the distinct values of its columns, with their number of rows
    NULL in a column        one NULL, if there is any
    uniqueness              the values that repeat, twice each
    the number of rows      as many rows, without columns
    the names of columns    all columns, without rows
    anything else           all rows of its columns
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from warehouse.output.rows import of_query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb
    import pandas as pd
    import pyarrow as pa

    from warehouse.checking.expectations import Expectation, Relation

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
_EACH = "__rows"  # the number of rows with these values; a name that no real column has


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows that an expectation is evaluated on.

    Attributes:
        data: the rows, numbered from 0.
        values: the same rows as DuckDB returned them; None if the frame has no columns or rows.
        weights: for each row, how many rows of the relation have these values; None if the frame
            has every row of the relation.
    """

    data: pd.DataFrame
    values: pa.Table | None = field(default=None, repr=False)
    weights: Sequence[int] | None = None


class RelationRows:
    """The rows of a relation, while the warehouse is open.

    Attributes:
        types: DuckDB's type of each column.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, relation: Relation) -> None:
        """Prepare the rows; nothing is read yet.

        Raises:
            duckdb.Error: the query is wrong.
        """
        self._connection = connection
        self._relation = relation
        self._table = "relation_rows"
        connection.execute(f"CREATE OR REPLACE TEMP VIEW relation_rows AS {relation.query}")
        self.types: dict[str, str] = {
            str(name): str(kind)
            for name, kind, *_ in connection.execute("DESCRIBE relation_rows").fetchall()
        }

    def keep(self) -> None:
        """Compute the columns that expectations name, once for all of them.

        A view would otherwise be computed for each one; tables of the lake are read directly.
        """
        self._connection.execute("DROP TABLE IF EXISTS relation_columns")
        expected = self._relation.expectations
        columns = {name for expectation in expected for name in expectation.columns}
        if self._relation.is_table or not columns or len(expected) == 1:
            return
        if any(_is_of_all_rows(expectation) for expectation in expected):
            columns |= set(self._relation.key)
        names = _list(name for name in self.types if name in columns)
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE relation_columns AS SELECT {names} FROM relation_rows"
        )
        self._table = "relation_columns"

    def count(self) -> int:
        """Return the number of rows."""
        [(n,)] = self._connection.execute(f"SELECT count(*) FROM {self._table}").fetchall()
        return int(n)

    def frame(self, expectation: Expectation, n_rows: int) -> Frame:
        """Return the frame for an expectation.

        Args:
            expectation: an expectation whose columns exist.
            n_rows: number of rows of the relation.
        """
        import pandas as pd

        if expectation.type.startswith(_COUNT):
            return Frame(pd.DataFrame(index=range(n_rows)))
        if expectation.type.startswith(_NO_ROWS):
            return Frame(_pandas(self._read("FROM relation_rows LIMIT 0")))
        names = _list(expectation.columns)
        if _is_of_all_rows(expectation):
            shown = _list(dict.fromkeys((*self._relation.key, *expectation.columns)))
            rows = self._read(f"SELECT {shown} FROM {self._table}")
            return Frame(_pandas(rows), rows)
        kept = f"WHERE {names} IS NULL" if expectation.type == _NO_NULL else ""
        groups = f"SELECT {names}, count(*) AS {_EACH} FROM {self._table} {kept} GROUP BY {names}"
        if expectation.type in _REPEATING:
            # The second copy has weight 0: its rows are counted already.
            groups = f"""
                SELECT {names}, if(copy = 0, {_EACH}, 0) AS {_EACH}
                FROM ({groups} HAVING count(*) > 1), range(2) AS copies (copy)
            """
        read = self._read(groups)
        values = read.drop_columns([_EACH])
        return Frame(_pandas(values), values, read.column(_EACH).to_pylist())

    def rows_with(self, values: pa.Table) -> list[dict[str, Any]]:
        """Return a few rows of the relation that have the values of any of the given rows."""
        columns = values.column_names
        same = " AND ".join(f"{_quoted(name)} IS NOT DISTINCT FROM ?" for name in columns)
        rows = values.to_pylist()
        return self._rows(
            f"WHERE {' OR '.join([f'({same})'] * len(rows))}",
            dict.fromkeys((*self._relation.key, *columns)) if self._relation.key else (),
            [row[name] for row in rows for name in columns],
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a few rows of the relation: the columns of its key, or all columns."""
        return self._rows(columns=self._relation.key)

    def _rows(
        self, where: str = "", columns: Iterable[str] = (), values: Sequence[object] = ()
    ) -> list[dict[str, Any]]:
        query = f"SELECT {_list(columns) or '*'} FROM relation_rows {where} LIMIT {SAMPLE}"
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
    # `mostly` is a share of all rows.
    return (
        expectation.type not in _BY_ROW | _REPEATING | {_NO_NULL} or "mostly" in expectation.kwargs
    )


def _pandas(table: pa.Table) -> pd.DataFrame:
    # Integers stay integers in columns with NULL: doubles would round those beyond 2^53.
    return table.to_pandas(integer_object_nulls=True, date_as_object=False)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
