"""Queries of a store, and the errors of DuckDB as ours."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from warehouse.core.errors import BadInput, OutOfMemory, StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from warehouse.core.types import Row

    # `BaseStore.reading`: given the text of a query, it opens what the query reads.
    Reading = Callable[[str], AbstractContextManager[duckdb.DuckDBPyConnection]]


class Query:
    """A query that runs when its rows are fetched; it holds no file open before or after."""

    def __init__(
        self, reading: Reading, query: str, parameters: Mapping[str, object] | None = None
    ) -> None:
        self._reading = reading
        self._query = query
        self._parameters = dict(parameters or {})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return all rows to libraries that read Arrow, such as Polars, DuckDB and pyarrow."""
        return self.to_arrow_table().__arrow_c_stream__(requested_schema)

    def pl(self) -> pl.DataFrame:
        """Return all rows as a Polars frame."""
        with self._relation() as relation:
            frame: pl.DataFrame = relation.pl()
            return frame

    def df(self) -> pd.DataFrame:
        """Return all rows as a pandas frame."""
        with self._relation() as relation:
            frame: pd.DataFrame = relation.df()
            return frame

    def to_arrow_table(self) -> pa.Table:
        """Return all rows as an Arrow table."""
        with self._relation() as relation:
            return relation.to_arrow_table()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows as tuples."""
        with self.cursor() as cursor:
            return cursor.fetchall()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Run the query and yield a cursor to stream its rows from (`fetchmany`).

        Raises:
            BadInput: DuckDB cannot run the query; the message marks the place.
        """
        with self._reading(self._query) as connection, query_errors():
            self._check_values(connection)
            connection.execute(self._query, self._parameters)
            yield connection

    @contextmanager
    def _relation(self) -> Iterator[duckdb.DuckDBPyRelation]:
        with self._reading(self._query) as connection, query_errors():
            self._check_values(connection)
            relation = connection.sql(self._query, params=self._parameters)
            if relation is None:
                raise BadInput("the query returns no rows")
            yield relation

    def _check_values(self, connection: duckdb.DuckDBPyConnection) -> None:
        # DuckDB 1.5 does not name the parameter that has no value.
        for statement in connection.extract_statements(self._query):
            if missing := sorted(statement.named_parameters - self._parameters.keys()):
                raise BadInput(f"no value for ${', $'.join(missing)}")


def rows_by_name(executed: duckdb.DuckDBPyConnection) -> list[Row]:
    """Return all rows of a query that was executed, each by the names of its columns."""
    names = [column[0] for column in executed.description or ()]
    return [dict(zip(names, row, strict=True)) for row in executed.fetchall()]


@contextmanager
def query_errors(*, is_users: bool = True) -> Iterator[None]:
    """Turn DuckDB's errors, which mark the position in the query, into our own.

    Args:
        is_users: whether the user wrote the query; a position in one of ours means nothing to them.

    Raises:
        BadInput: the query is wrong.
        OutOfMemory: the query needs more memory than there is, or than it may take.
        StoreDamaged: the warehouse file is damaged; a query cannot reach other files.
    """
    import duckdb

    try:
        yield
    except (duckdb.IOException, duckdb.SerializationException, duckdb.FatalException) as error:
        raise StoreDamaged(
            f"{error}\nThe warehouse is damaged: `evalstore sync --rebuild` recreates it"
        ) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        # The lines that follow propose settings, which a query cannot change.
        reason = str(error).partition("\n")[0] or "Out of Memory Error"
        advice = "; select fewer rows or columns, or filter before joining" if is_users else ""
        raise OutOfMemory(f"{reason}{advice}") from error
    except duckdb.Error as error:
        text = str(error)
        raise BadInput(text if is_users else text.partition("\n\nLINE ")[0]) from error
