"""Statistics that views have, too: their SQL macros, applied to many rows by one query."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING

from warehouse.core.in_memory import open_in_memory
from warehouse.engine.statistics.distributions import normal_quantile
from warehouse.engine.statistics.proportions import Interval
from warehouse.engine.views.sql_files import shipped_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

_LEVEL = 0.95
_databases = ExitStack()


def mcnemar_p_values(n_only_a: Sequence[int], n_only_b: Sequence[int]) -> list[float]:
    """Return McNemar's exact p-value of each pair, two-sided: the SQL macro `mcnemar_p`.

    Args:
        n_only_a: tasks that only the first model passed, for each pair.
        n_only_b: tasks that only the second passed.
    """
    rows = _query("mcnemar_p(only_a, only_b)", only_a=n_only_a, only_b=n_only_b).fetchall()
    return [p_value for (p_value,) in rows]


def newcombe_intervals(
    passes: Sequence[tuple[int, int, int, int]], *, level: float = _LEVEL
) -> list[Interval | None]:
    """Return the intervals of differences of paired proportions: SQL macro `newcombe_interval`.

    Args:
        passes: of each pair, how many tasks both models passed, only the first, only the second,
            and neither; None if there are none.
        level: confidence, between 0 and 1.
    """
    quantiles = [normal_quantile((1 + level) / 2)] * len(passes)
    call = "newcombe_interval(n[1], n[2], n[3], n[4], quantile := quantile)"
    return _intervals(call, n=passes, quantile=quantiles)


def _intervals(call: str, **columns: Sequence[object]) -> list[Interval | None]:
    if not all(columns.values()):
        return []
    rows = _query(call, **columns).fetchall()
    return [None if ends is None else Interval(*ends) for (ends,) in rows]


def _query(expression: str, **columns: Sequence[object]) -> duckdb.DuckDBPyConnection:
    """Return the result of an expression of some columns, in the order of their rows."""
    names = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
    query = f"SELECT {expression} FROM (SELECT {names})"  # noqa: S608 - of this module only
    return macros().cursor().execute(query, columns)


@cache
def macros() -> duckdb.DuckDBPyConnection:
    """Return a database in memory that has the macros; it takes about 50 ms to open, once.

    The macros of a warehouse may be those of another version, if it is not to be synced.
    """
    database = _databases.enter_context(open_in_memory(threads=1))
    for file in shipped_sql():
        if file.is_function and file.family == "statistics":
            database.execute(file.sql)
    return database
