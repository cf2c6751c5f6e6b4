"""A copy of a warehouse without some tasks: without their results, and all that is about these."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warehouse.core.schemas import PREFERENCES, RATINGS, TABLES
from warehouse.engine.connection import open_for_writing
from warehouse.engine.tables.derivation import derive
from warehouse.engine.tables.insertion import insert_rows
from warehouse.engine.tables.loading import note_changed_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warehouse.core.schemas import Table


class LeftOutTask(NamedTuple):
    """A version of a task; without a hash, every version of it."""

    suite: str
    task_set: str
    task_id: str
    task_hash: str | None


_FIND = """
CREATE OR REPLACE TEMP TABLE left_out_results AS
SELECT calls.suite, calls.run_id, calls.content_id AS result_id, calls.model, calls.task_id
FROM lake.results AS calls
JOIN scores.setups AS setups USING (setup)
JOIN left_out_tasks AS tasks
    ON calls.suite = tasks.suite
    AND setups.task_set = tasks.task_set
    AND calls.task_id = tasks.task_id
    AND coalesce(calls.task_hash = tasks.task_hash, true)
"""
_SAMPLE_IDS = "runs.extra -> '$.eval.dataset.sample_ids'"
# Those with such results or ratings of them, and those whose log names such a task.
_RUNS = f"""
SELECT suite, run_id FROM left_out_results
UNION
SELECT ratings.suite, ratings.run_id
FROM lake.ratings AS ratings
JOIN left_out_results AS gone ON {{ratings}}
UNION
SELECT votes.suite, votes.run_id
FROM lake.preferences AS votes
JOIN left_out_results AS gone ON {{votes}}
UNION
SELECT runs.suite, runs.run_id
FROM lake.runs AS runs
JOIN left_out_tasks AS tasks USING (suite, task_set)
WHERE list_contains(CAST({_SAMPLE_IDS} AS VARCHAR[]), tasks.task_id)
"""
_PLANNED = f"""
UPDATE lake.runs AS runs
SET extra = json_merge_patch(extra, json_object('eval', json_object(
    'dataset', json_object('sample_ids', list_filter(
        CAST({_SAMPLE_IDS} AS JSON[]),
        lambda planned: NOT list_contains(tasks.task_ids, planned ->> '$')
    ))
)))
FROM (
    SELECT suite, run_id, list(DISTINCT task_id) AS task_ids
    FROM left_out_tasks
    JOIN (SELECT suite, run_id, task_set FROM lake.runs) AS named USING (suite, task_set)
    -- Another version of the task, which the run asked, is not left out.
    ANTI JOIN lake.results USING (suite, run_id, task_id)
    GROUP BY suite, run_id
) AS tasks
WHERE runs.suite = tasks.suite AND runs.run_id = tasks.run_id
    AND list_has_any(CAST({_SAMPLE_IDS} AS VARCHAR[]), tasks.task_ids)
"""
_TASKS = """
DELETE FROM lake.tasks AS held USING left_out_tasks AS gone
WHERE held.suite = gone.suite AND held.task_set = gone.task_set AND held.task_id = gone.task_id
    AND coalesce(held.task_hash = gone.task_hash, true)
"""
# Figures that logs and reports give are of all tasks: nobody can take some out of them.
_REPORTED = """
DELETE FROM lake.reported_metrics AS held USING left_out_tasks AS gone
WHERE held.suite = gone.suite AND coalesce(held.task_set = gone.task_set, true)
    AND coalesce(list_contains(held.task_sets, gone.task_set), true);
DELETE FROM lake.published WHERE suite IN (SELECT suite FROM left_out_tasks);
UPDATE lake.runs SET recorded_summary = NULL WHERE suite IN (SELECT suite FROM left_out_tasks)
"""


def leave_out_tasks(warehouse: Path, tasks: Sequence[LeftOutTask], *, wait_seconds: float) -> None:
    """Remove tasks from a copy of a warehouse, and compute again what depends on them.

    Figures that logs and reports give themselves are removed, too. The lake still has everything:
    never for a store's own warehouse.
    """
    with open_for_writing(warehouse, wait_seconds=wait_seconds) as connection:
        connection.execute("BEGIN")
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE left_out_tasks "
            "(suite VARCHAR, task_set VARCHAR, task_id VARCHAR, task_hash VARCHAR)"
        )
        insert_rows(connection, "left_out_tasks", tasks)
        connection.execute(_FIND)
        query = _RUNS.format(
            ratings=next(_about(RATINGS, "ratings")), votes=next(_about(PREFERENCES, "votes"))
        )
        note_changed_runs(connection, connection.execute(query).fetchall())
        for table in TABLES:
            for condition in _about(table):
                connection.execute(
                    f"DELETE FROM lake.{table.name} AS held USING left_out_results AS gone "
                    f"WHERE {condition}"
                )
        connection.execute(_PLANNED)
        connection.execute(_TASKS)
        derive(connection, emptied=set(), changed={"tasks"})
        # Only now: of some suites, what logs report decides about verdicts.
        connection.execute(_REPORTED)
        connection.execute("COMMIT")


def _about(table: Table, held: str = "held") -> Iterator[str]:
    """Yield conditions on rows `held` of a table that are of or about a result `gone`."""
    names = table.column_names
    id_column = {"results": "content_id", "preferences": "result_a"}.get(table.name, "result_id")
    if id_column not in names:
        return
    suite, run_id = next(iter(table.other_runs), ("suite", "run_id"))
    of_run = (
        f"coalesce({held}.{suite}, {held}.suite) = gone.suite "
        f"AND coalesce({held}.{run_id}, {held}.run_id) = gone.run_id"
    )
    yield f"{of_run} AND {held}.{id_column} = gone.result_id"
    if id_column != "content_id" and "task_id" in names:
        yield f"{of_run} AND {held}.{id_column} IS NULL AND {held}.task_id = gone.task_id"
