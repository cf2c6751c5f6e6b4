"""The tasks that have a page: of a large store, those that say most about its models."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exports.site.site import Site
    from warehouse.core.types import Row

_OF_SET = 100
_OF_ALL = 500
# Several versions of a task are one page.
_TASKS = f"""
WITH versions AS MATERIALIZED (FROM task_difficulty),

tasks AS (
    SELECT
        suite, task_set, task_id,
        exact_mean(pass_rate) AS pass_rate,
        max(n_models) AS n_models
    FROM versions
    GROUP BY suite, task_set, task_id
),

placed AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY suite, task_set) AS n_tasks,
        row_number() OVER (
            PARTITION BY suite, task_set ORDER BY round(abs(pass_rate - 0.5), 9), task_id
        ) AS place
    FROM tasks
),

-- Each task set in turn, so that none takes all the pages.
chosen AS (
    FROM placed
    WHERE place <= {_OF_SET}
    ORDER BY place, suite, task_set
    LIMIT {_OF_ALL}
)

SELECT
    chosen.* EXCLUDE (place),
    list(versions ORDER BY versions.n_trials DESC, versions.task_hash) AS versions
FROM chosen
JOIN versions USING (suite, task_set, task_id)
GROUP BY ALL
ORDER BY chosen.suite, chosen.task_set, chosen.pass_rate, chosen.task_id
"""  # noqa: S608 - our own numbers


def shown_tasks(site: Site) -> list[Row]:
    """Return the tasks with a page, the hardest of each task set first.

    Of each task set those with a pass rate next to 50 %, on which models differ most. Their
    `versions` are the rows of `task_difficulty`, that asked most first.
    """
    return site.once(_tasks)


def _tasks(site: Site) -> list[Row]:
    return site.rows(_TASKS)


def task_keys(site: Site) -> set[tuple[str, str, str]]:
    """Return suite, task set and ID of the tasks with a page."""
    if not site.has("task"):
        return set()
    return {(row["suite"], row["task_set"], row["task_id"]) for row in shown_tasks(site)}
