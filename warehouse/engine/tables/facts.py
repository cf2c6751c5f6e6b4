"""What results take from other tables, stored with them, and the table of facts.

Every view would otherwise join results with duplicate calls, replaced results and computed
verdicts again. Sync marks the rows that these concern, and computes the facts again of the runs
with a row that has changed; `scores.setups` holds what model files and headers add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.engine.tables.runs import in_parts, runs_in
from warehouse.engine.tables.score_tables import replace_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import duckdb

    from warehouse.engine.tables.runs import Runs
    from warehouse.engine.views.sql_files import SqlFile

_KEY = "suite, run_id, content_id"
_TOUCHED_RUNS = "CREATE OR REPLACE TEMP TABLE touched_runs (suite VARCHAR, run_id VARCHAR)"
# The rows of `marks` (the key, value) that differ from what the results have.
_MARK = """
UPDATE lake.results SET {column} = marks.value FROM marks
WHERE results.run_id BETWEEN ? AND ?
    AND results.suite = marks.suite AND results.run_id = marks.run_id
    AND results.content_id = marks.content_id
    AND results.{column} IS DISTINCT FROM marks.value
"""
# A result may stand in for one that stood in for another.
_REPLACED_CALLS = """
WITH RECURSIVE own AS MATERIALIZED (
    SELECT suite, run_id, content_id, stands_in_for,
        1 + coalesce(json_array_length(retries), 0) AS n_calls
    FROM lake.results
    SEMI JOIN (
        SELECT suite, run_id
        FROM (SELECT suite, run_id, stands_in_for FROM lake.results {restriction})
        WHERE stands_in_for IS NOT NULL
    ) USING (suite, run_id)
),
replaced AS (
    SELECT suite, run_id, content_id, stands_in_for AS earlier FROM own
    WHERE stands_in_for IS NOT NULL
    UNION
    SELECT suite, run_id, replaced.content_id, own.stands_in_for AS earlier
    FROM replaced
    JOIN own USING (suite, run_id)
    WHERE own.content_id = replaced.earlier AND own.stands_in_for IS NOT NULL
)
SELECT suite, run_id, replaced.content_id, CAST(sum(n_calls) AS BIGINT) AS value
FROM replaced
JOIN own USING (suite, run_id)
WHERE own.content_id = replaced.earlier
GROUP BY ALL
"""


@dataclass(slots=True)
class Touched:
    """The runs whose facts are computed again.

    Attributes:
        runs: the changed runs; None if there are none.
        others: whether the temporary table `touched_runs` has runs to add.
    """

    runs: Runs | None
    others: bool = False

    def add(self, connection: duckdb.DuckDBPyConnection, runs: str) -> None:
        """Add the runs of a query (suite, run_id)."""
        if not self.others:
            connection.execute(_TOUCHED_RUNS)
            self.others = True
        connection.execute(f"INSERT INTO touched_runs {runs}")

    def all(self, connection: duckdb.DuckDBPyConnection) -> Runs | None:
        """Return all of them; None if there are none."""
        if not self.others:
            return self.runs
        self.add(connection, "SELECT suite, run_id FROM changed_runs")
        connection.execute(
            """
            CREATE OR REPLACE TEMP TABLE touched_runs AS
                SELECT suite, run_id, coalesce(bool_or(changed.is_new), false) AS is_new
                FROM touched_runs
                LEFT JOIN changed_runs AS changed USING (suite, run_id)
                GROUP BY suite, run_id
            """
        )
        return runs_in(connection, "touched_runs")


def begin(
    connection: duckdb.DuckDBPyConnection, *, may_change_setups: bool, may_change_duplicates: bool
) -> None:
    """Remember what may change, in the caller's transaction after `loading.load`.

    Args:
        connection: the warehouse.
        may_change_setups: whether setups of other runs than the changed ones may change.
        may_change_duplicates: whether `scores.duplicate_calls` is computed again.
    """
    if may_change_duplicates:
        # As marked: another version has emptied `scores.duplicate_calls` by now.
        connection.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE former_duplicates AS
                SELECT {_KEY}, duplicate_of AS counted_in FROM lake.results
                WHERE duplicate_of IS NOT NULL
            """
        )
    if may_change_setups:
        connection.execute(
            """
            CREATE OR REPLACE TEMP TABLE former_setups AS
                SELECT suite, run_id, setup, input_hash FROM scores.setups
                ANTI JOIN changed_runs USING (suite, run_id)
            """
        )


def mark_replaced_and_duplicate_results(
    connection: duckdb.DuckDBPyConnection,
    touched: Touched,
    *,
    may_change_setups: bool,
    may_change_duplicates: bool,
) -> None:
    """Mark results that another stands in for, or another run counts, after `scores.setups`.

    Args:
        connection: the warehouse, after `begin`.
        touched: runs with a changed setup or result are added.
        may_change_setups: as for `begin`.
        may_change_duplicates: as for `begin`.
    """
    if may_change_setups:
        changed = """
            SELECT suite, run_id FROM former_setups
            ANTI JOIN scores.setups USING (suite, run_id, setup, input_hash)
        """
        touched.add(connection, changed)
        connection.execute("DROP TABLE former_setups")
    if touched.runs is not None:
        restriction, parameters = touched.runs.restrict()
        replaced = f"""
            SELECT suite, run_id, stands_in_for AS content_id, true AS value
            FROM (SELECT suite, run_id, stands_in_for FROM lake.results {restriction})
            WHERE stands_in_for IS NOT NULL
        """
        _mark(connection, touched, "is_replaced", replaced, parameters=parameters)
        calls = _REPLACED_CALLS.format(restriction=restriction)
        _mark(connection, touched, "n_replaced_calls", calls, parameters=parameters)
    if not may_change_duplicates:
        return
    duplicates = f"""
        WITH former AS (SELECT {_KEY}, counted_in FROM former_duplicates),
        now AS (SELECT {_KEY}, counted_in FROM scores.duplicate_calls)
        SELECT {_KEY}, now.counted_in AS value
        FROM (FROM former EXCEPT FROM now) AS gone LEFT JOIN now USING ({_KEY})
        UNION
        SELECT {_KEY}, counted_in AS value FROM (FROM now EXCEPT FROM former)
        UNION
        SELECT {_KEY}, counted_in AS value FROM now SEMI JOIN changed_runs USING (suite, run_id)
    """
    _mark(connection, touched, "duplicate_of", duplicates)
    connection.execute("DROP TABLE former_duplicates")


def mark_verdicts(
    connection: duckdb.DuckDBPyConnection, touched: Touched, *, everywhere: bool
) -> None:
    """Mark results with the verdicts that were computed of them.

    Args:
        connection: the warehouse, after the scores that `scores.computed_verdicts` refers to.
        touched: runs with a changed result are added.
        everywhere: whether verdicts of runs other than the changed ones may have changed.
    """
    verdicts = f"SELECT {_KEY}, is_correct AS value FROM scores.computed_verdicts"
    parameters: list[str] = []
    if everywhere:
        verdicts = f"""
            WITH former AS (
                SELECT {_KEY}, computed_verdict FROM lake.results
                WHERE computed_verdict IS NOT NULL
            ),
            now AS ({verdicts} WHERE is_correct IS NOT NULL)
            SELECT {_KEY}, now.value
            FROM former FULL JOIN now USING ({_KEY})
            WHERE former.computed_verdict IS DISTINCT FROM now.value
        """
    elif touched.runs is not None:
        restriction, parameters = touched.runs.restrict()
        verdicts = f"FROM ({verdicts} {restriction}) WHERE value IS NOT NULL"
    else:
        return
    _mark(connection, touched, "computed_verdict", verdicts, parameters=parameters)


def _mark(
    connection: duckdb.DuckDBPyConnection,
    touched: Touched,
    column: str,
    marks: str,
    *,
    parameters: Sequence[str] = (),
) -> None:
    """Set a column of the results that a query names (suite, run_id, content_id, value)."""
    made = connection.execute(f"CREATE OR REPLACE TEMP TABLE marks AS {marks}", parameters)
    if made.fetchall() != [(0,)]:
        [bounds] = connection.execute("SELECT min(run_id), max(run_id) FROM marks").fetchall()
        connection.execute(_MARK.format(column=column), bounds)
        touched.add(connection, "SELECT DISTINCT suite, run_id FROM marks")
    connection.execute("DROP TABLE marks")


def update_facts(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[SqlFile],
    touched: Touched,
    *,
    emptied: Collection[str],
) -> Runs | None:
    """Compute the rows of the touched runs in the tables by run; return these runs.

    Args:
        connection: the warehouse, after everything has been marked.
        files: the SQL files, in order.
        touched: the runs.
        emptied: names of tables that lack all rows, because their query has changed.
    """
    runs = touched.all(connection)
    parts = [] if runs is None else in_parts(connection, runs)
    for file in files:
        if not file.is_by_run or file.is_refreshed or file.is_board:
            continue
        if file.name in emptied:
            connection.execute(f"INSERT INTO {file.qualified} {file.sql}")
        else:
            replace_runs(connection, file, parts)
    return runs
