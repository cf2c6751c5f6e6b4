"""The runs that a sync computes: how a statement is restricted to them.

Planning takes most of the time of a small sync, and DuckDB plans a comparison with one run in half
the time that it takes for a join with a table of runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb

_BY_SUITE = """
SELECT suite, count(*), min(run_id), max(run_id), bool_and(is_new)
FROM {table}
GROUP BY suite
ORDER BY suite
"""
# Rows of more results than these are computed in parts, so that the memory of a rebuild is bounded.
_MOST_RESULTS = 4_000_000
_PARTS = """
CREATE OR REPLACE TEMP TABLE run_parts AS
    SELECT
        suite, run_id, is_new,
        CAST(sum(n_results) OVER (ORDER BY run_id, suite) - n_results AS BIGINT) // {most} AS part
    FROM (
        SELECT suite, run_id, bool_and(is_new) AS is_new, max(coalesce(n_results, 0)) AS n_results
        FROM {table}
        LEFT JOIN (
            SELECT suite, run_id, count(*) AS n_results FROM lake.results {restriction} GROUP BY ALL
        ) USING (suite, run_id)
        GROUP BY suite, run_id
    )
"""


@dataclass(frozen=True, slots=True)
class Runs:
    """Some runs, one or more.

    Attributes:
        table: the temporary table that has them (suite, run_id, is_new), each once or more.
        n_rows: its number of rows.
        ranges: the smallest and largest run id, by suite.
        are_new: whether the warehouse had no rows of any of them before.
    """

    table: str
    n_rows: int
    ranges: dict[str, tuple[str, str]]
    are_new: bool

    def restrict(self, *, suites: Collection[str] | None = None) -> tuple[str, list[str]]:
        """Return the end of a query of one relation (suite, run_id), and its parameters.

        Args:
            suites: suites that the relation may have, at least one of the runs'; None for all.
        """
        ranges = [r for suite, r in self.ranges.items() if suites is None or suite in suites]
        first, last = min(first for first, _ in ranges), max(last for _, last in ranges)
        if self.n_rows == 1:
            return "WHERE suite = ? AND run_id = ?", [next(iter(self.ranges)), first]
        # DuckDB pushes the bounds down to the scan, so that a sync does not read the history; it
        # does not push the join.
        join = f"SEMI JOIN {self.table} USING (suite, run_id)"
        return f"{join} WHERE run_id BETWEEN ? AND ?", [first, last]

    def bounds(self) -> list[str]:
        """Return the smallest and largest run id."""
        return [
            min(first for first, _ in self.ranges.values()),
            max(last for _, last in self.ranges.values()),
        ]


def runs_in(connection: duckdb.DuckDBPyConnection, table: str) -> Runs | None:
    """Return the runs in a temporary table (suite, run_id, is_new); None if there are none."""
    rows = connection.execute(_BY_SUITE.format(table=table)).fetchall()
    if not rows:
        return None
    ranges = {suite: (first, last) for suite, _, first, last, _ in rows}
    return Runs(table, sum(row[1] for row in rows), ranges, all(row[-1] for row in rows))


def in_parts(connection: duckdb.DuckDBPyConnection, runs: Runs) -> list[Runs]:
    """Return runs in parts with a bounded number of results, in the order of their ids.

    The parts are in the temporary table `run_parts`, which the next call replaces.
    """
    [(n_results,)] = connection.execute("SELECT count(*) FROM lake.results").fetchall()
    if runs.n_rows == 1 or n_results <= _MOST_RESULTS:
        return [runs]
    restriction, parameters = runs.restrict()
    divided = _PARTS.format(most=_MOST_RESULTS, table=runs.table, restriction=restriction)
    connection.execute(divided, parameters)
    numbers = connection.execute("SELECT DISTINCT part FROM run_parts ORDER BY part").fetchall()
    parts = (
        runs_in(connection, f"(FROM run_parts WHERE part = {number})") for (number,) in numbers
    )
    return [part for part in parts if part is not None]
