"""Statistics that views have, too: their SQL macros, applied to many rows by one query."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING

from warehouse.core.in_memory import open_in_memory
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

_databases = ExitStack()


def mcnemar_p_values(n_only_a: Sequence[int], n_only_b: Sequence[int]) -> list[float]:
    """Return McNemar's exact p-value of each pair, two-sided (SQL macro `mcnemar_p`).

    Args:
        n_only_a: tasks that only the first model passed, for each pair.
        n_only_b: tasks that only the second passed.
    """
    found = by_row("mcnemar_p(only_a, only_b)", only_a=n_only_a, only_b=n_only_b)
    return [p_value for (p_value,) in found.fetchall()]


def by_row(expression: str, **columns: Sequence[object]) -> duckdb.DuckDBPyConnection:
    """Return the result of a SQL expression for each row of some columns.

    Args:
        expression: of the columns, by their names.
        columns: the values, equally many of each.
    """
    names = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
    return macros().cursor().execute(f"SELECT {expression} FROM (SELECT {names})", columns)  # noqa: S608


@cache
def macros() -> duckdb.DuckDBPyConnection:
    """Return a database in memory that has the macros; it takes about 60 ms to open, once."""
    database = _databases.enter_context(open_in_memory(threads=1))
    for file in shipped_sql():
        if file.is_function and file.family == "statistics":
            database.execute(file.sql)
    return database
