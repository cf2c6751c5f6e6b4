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
