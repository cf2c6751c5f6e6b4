"""The smallest frame on which an expectation gives the answer that it gives on all rows.

DuckDB makes it; Great Expectations judges it. So millions of rows are checked in seconds, and a
column that no expectation names is never read.

    about each row by itself    the distinct values of its columns, with how many rows have them
    about NULL in a column      a NULL, if there is one
    about rows that repeat      the values that repeat, twice each
    about the number of rows    as many rows, without a column
    about the names of columns  all columns, without a row
    anything else               all rows of its columns
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

    from warehouse.checking.expectations import Batch, Expectation

# Rows of an offending sample.
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
_EACH = "__rows"  # how many rows have the values; no column of ours or of a sane user's


@dataclass(frozen=True, slots=True)
class Frame:
    """What an expectation is asked about.

    Attributes:
        data: rows numbered from 0.
        values: the same rows, as DuckDB gave them; None where there are no values.
        weights: for each row, how many rows of the batch have these values; None where the rows
            are those of the batch.
    """

    data: pd.DataFrame
    values: pa.Table | None = field(default=None, repr=False)
    weights: Sequence[int] | None = None


class Source:
    """The rows of a batch in an open warehouse, for as long as that is open.

    Attributes:
        types: DuckDB's type of each column.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
        """Prepare the rows; nothing is read yet.

        Raises:
            duckdb.Error: the query is wrong.
        """
        self._connection = connection
        self._batch = batch
        self._table = "batch_rows"
        connection.execute(f"CREATE OR REPLACE TEMP VIEW batch_rows AS {batch.query}")
        self.types: dict[str, str] = {
            str(name): str(kind)
            for name, kind, *_ in connection.execute("DESCRIBE batch_rows").fetchall()
        }

    def keep(self) -> None:
        """Compute the columns that expectations name once for all of them.

        A table of the lake is read column by column as it is; a view would be computed each time.
        """
        self._connection.execute("DROP TABLE IF EXISTS batch_columns")
        expected = self._batch.expectations
        columns = {name for expectation in expected for name in expectation.columns}
        if self._batch.is_table or not columns or len(expected) == 1:
            return
        if any(_is_of_all_rows(expectation) for expectation in expected):
            columns |= set(self._batch.key)
        names = _list(name for name in self.types if name in columns)
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE batch_columns AS SELECT {names} FROM batch_rows"
        )
        self._table = "batch_columns"

    def count(self) -> int:
        """Count the rows."""
        [(n,)] = self._connection.execute(f"SELECT count(*) FROM {self._table}").fetchall()
        return int(n)

    def frame(self, expectation: Expectation, n_rows: int) -> Frame:
        """Give the frame for an expectation.

        Args:
            expectation: its columns are there.
            n_rows: of the batch.
        """
        import pandas as pd

        if expectation.type.startswith(_COUNT):
            return Frame(pd.DataFrame(index=range(n_rows)))
        if expectation.type.startswith(_NO_ROWS):
            return Frame(_pandas(self._read("FROM batch_rows LIMIT 0")))
        names = _list(expectation.columns)
        if _is_of_all_rows(expectation):
            shown = _list(dict.fromkeys((*self._batch.key, *expectation.columns)))
            rows = self._read(f"SELECT {shown} FROM {self._table}")
            return Frame(_pandas(rows), rows)
        kept = f"WHERE {names} IS NULL" if expectation.type == _NO_NULL else ""
        groups = f"SELECT {names}, count(*) AS {_EACH} FROM {self._table} {kept} GROUP BY {names}"
        if expectation.type in _REPEATING:
            # The second one stands for no further rows.
            groups = f"""
                SELECT {names}, if(copy = 0, {_EACH}, 0) AS {_EACH}
                FROM ({groups} HAVING count(*) > 1), range(2) AS copies (copy)
            """
        read = self._read(groups)
        values = read.drop_columns([_EACH])
        return Frame(_pandas(values), values, read.column(_EACH).to_pylist())

    def rows_with(self, values: pa.Table) -> list[dict[str, Any]]:
        """Give a few rows of the batch that have one of the given values in their columns."""
        columns = values.column_names
        same = " AND ".join(f"{_quoted(name)} IS NOT DISTINCT FROM ?" for name in columns)
        rows = values.to_pylist()
        return self._rows(
            f"WHERE {' OR '.join([f'({same})'] * len(rows))}",
            dict.fromkeys((*self._batch.key, *columns)) if self._batch.key else (),
            [row[name] for row in rows for name in columns],
        )

    def rows(self) -> list[dict[str, Any]]:
        """Give a few rows of the batch: their key, or all of them."""
        return self._rows(columns=self._batch.key)

    def _rows(
        self, where: str = "", columns: Iterable[str] = (), values: Sequence[object] = ()
    ) -> list[dict[str, Any]]:
        query = f"SELECT {_list(columns) or '*'} FROM batch_rows {where} LIMIT {SAMPLE}"
        rows = of_query(self._connection, query, values)
        return [
            dict(zip(rows.columns, row, strict=True)) for batch in rows.batches() for row in batch
        ]

    def _read(self, query: str) -> pa.Table:
        return self._connection.sql(query).to_arrow_table()


def _is_of_all_rows(expectation: Expectation) -> bool:
    """Tell whether the answer depends on every row, and not just on the values that there are."""
    if expectation.type.startswith((_COUNT, *_NO_ROWS)):
        return False
    # A share of rows, `mostly`, is one of all rows.
    return (
        expectation.type not in _BY_ROW | _REPEATING | {_NO_NULL} or "mostly" in expectation.kwargs
    )


def _pandas(table: pa.Table) -> pd.DataFrame:
    # Whole numbers stay whole beside NULL: a double would round those beyond 2^53.
    return table.to_pandas(integer_object_nulls=True, date_as_object=False)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
