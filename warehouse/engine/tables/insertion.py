"""Inserting rows of Python into tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb


def insert_rows(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]]
) -> None:
    """Insert rows, whose values are in the order of the table's columns.

    Column by column: DuckDB takes each list at once, and `executemany` would insert row by row.
    """
    if rows:
        marks = ", ".join(["unnest(?)"] * len(rows[0]))
        columns = [list(column) for column in zip(*rows, strict=True)]
        connection.execute(f"INSERT INTO {table} SELECT {marks}", columns)
