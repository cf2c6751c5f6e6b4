"""The rows of many runs from few queries: planning a query takes longer than reading a run.

Runs are rows of `runs`, in the order of suite and run id. Queries return `suite` and `run_id` and
are in that order, too. Each has a cursor of its own, so that all can be read at the same time.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from exports.rows import iterate_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from warehouse.core.types import Row

# What a query ends its FROM clause with to read the chosen runs only.
_CHOSEN = "unnest(CAST($runs AS STRUCT(suite VARCHAR, run_id VARCHAR)[]), recursive := true)"
OF_RUNS = f"SEMI JOIN (SELECT {_CHOSEN}) AS chosen USING (suite, run_id)"

_BLOCK = 2000  # results
_RESULT_ORDER = """
CREATE TEMP TABLE ordered_results AS
SELECT
    calls.suite, calls.run_id, calls.result_id, items.item_hash,
    row_number() OVER (ORDER BY calls.suite, calls.run_id, {order}, calls.seq, calls.result_id)
        AS result_number
FROM (FROM results {of_runs}) AS calls
LEFT JOIN (FROM result_items {of_runs}) AS items USING (suite, run_id, result_id)
"""
_ITEM_TASKS = f"""
CREATE TEMP TABLE item_tasks AS
SELECT suite, item_hash, task_version
FROM tasks
SEMI JOIN (SELECT {_CHOSEN}) AS chosen USING (suite)
WHERE item_hash IS NOT NULL
"""  # noqa: S608 - only names of our own
_NEXT_BLOCK = """
CREATE OR REPLACE TEMP TABLE block AS
FROM ordered_results WHERE result_number > $done AND result_number <= $done + $size
"""

_run_key = itemgetter("suite", "run_id")


def rows_by_run(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[Row], *queries: str
) -> Iterator[tuple[Row, tuple[list[Row], ...]]]:
    """Yield each run with its rows of each query, which has the parameter `$runs` of `OF_RUNS`."""
    rows = (_by_run(connection, runs, query) for query in queries)
    return zip(runs, zip(*rows, strict=True), strict=True)


def results_by_group(
    connection: duckdb.DuckDBPyConnection,
    runs: Sequence[Row],
    query: str,
    *,
    by: Sequence[str],
    then: Sequence[str] = (),
    size: int | None = None,
) -> Iterator[Iterator[Row]]:
    """Yield the rows about the results of each group, of which a bounded number are read at a time.

    Args:
        connection: the warehouse.
        runs: the runs.
        query: a query in the order of `result_number`. It reads its results from the temporary
            table `block` (`result_number`, `suite`, `run_id`, `result_id`, `item_hash`), and may
            read from `item_tasks` which versions of tasks are an item.
        by: columns of `results` and of the query. Results of a run that are equal in them are a
            group, and groups are in the order of these columns.
        then: columns of `results` that order those of a group before `seq`.
        size: number of results that are read at a time, if not two thousand.
    """
    order = ", ".join(f"calls.{name}" for name in (*by, *then))
    rows = _iterate_results(connection, runs, query, order, size or _BLOCK)
    for _, group in groupby(rows, key=itemgetter("suite", "run_id", *by)):
        yield group


def _iterate_results(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[Row], query: str, order: str, size: int
) -> Iterator[Row]:
    with connection.cursor() as cursor:
        parameters = _parameters(runs)
        cursor.execute(_ITEM_TASKS, parameters)
        ordered = _RESULT_ORDER.format(order=order, of_runs=OF_RUNS)
        [(count,)] = cursor.execute(ordered, parameters).fetchall()
        for done in range(0, count, size):
            cursor.execute(_NEXT_BLOCK, {"done": done, "size": size})
            yield from iterate_rows(cursor, query, {})


def _parameters(runs: Sequence[Row]) -> dict[str, object]:
    return {"runs": [{name: run[name] for name in ("suite", "run_id")} for run in runs]}


def _by_run(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[Row], query: str
) -> Iterator[list[Row]]:
    """Yield the rows of each run."""
    with connection.cursor() as cursor:
        groups = groupby(iterate_rows(cursor, query, _parameters(runs)), key=_run_key)
        key, rows = next(groups, (None, iter(())))
        for run in runs:
            if key == _run_key(run):
                yield list(rows)
                key, rows = next(groups, (None, iter(())))
            else:
                yield []
