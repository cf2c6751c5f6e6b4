"""The trials that have a page, and those of them that a page compares with a solved one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exports.site.addresses import parting_page, run_page, trial_page
from exports.site.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exports.site.site import Site
    from exports.site.tables import Table
    from warehouse.core.types import Row

MOST_TRIALS = 500
# Each run in turn, so that none takes all the pages; of each the failed ones first.
_TRIALS = """
WITH placed AS (
    SELECT
        trials.* EXCLUDE (duplicate_of),
        runs.run_date,
        count(*) OVER () AS n_trials,
        row_number() OVER (
            PARTITION BY trials.suite, trials.run_id
            ORDER BY passed NULLS LAST, trials.task_id, trials.attempt, trials.result_id
        ) AS place
    FROM trials
    JOIN runs USING (suite, run_id)
    WHERE duplicate_of IS NULL AND {chosen}
)

SELECT * EXCLUDE (place)
FROM (
    FROM placed
    ORDER BY place, run_date DESC NULLS LAST, suite, run_id DESC
    LIMIT {limit}
)
ORDER BY run_date DESC NULLS LAST, suite, run_id DESC, place
"""
_CHOSEN = {"all": "true", "failed": "passed IS FALSE", "none": "false"}
_PARTINGS = """
FROM step_failures
SEMI JOIN site_trials USING (suite, run_id, result_id)
ORDER BY suite, run_id, result_id
"""
_HEADINGS = {"ended": "how it ended", "solved_trial": "next to a solved trial"}
_OFTEN_UNKNOWN = ("n_steps", "n_tool_calls", "n_tool_errors", "minutes", "cost_usd")
_KEYS = "SELECT suite, run_id, result_id, task_set, task_id FROM {} ORDER BY rowid"
_ENDS = {
    "solved": "it solved the task",
    "gave_up": "it stopped by itself and did not pass",
    "limit": "a limit of steps, tokens or cost stopped it",
    "timeout": "it ran out of time",
    "error": "an error stopped it",
}

Key = tuple[str, str, str]


def keep_trials(site: Site) -> None:
    """Keep the trials that have pages as `site_trials`, a temporary table."""
    chosen = _CHOSEN[site.samples]
    site.keep(site_trials=_TRIALS.format(chosen=chosen, limit=MOST_TRIALS))


def keep_partings(site: Site) -> None:
    """Keep where the failed ones of them part from solved ones as `site_partings`."""
    keep_trials(site)
    site.keep(site_partings=_PARTINGS)


def trial_pages(site: Site) -> dict[Key, str]:
    """Return the paths of the pages of trials, by suite, run and result."""
    return site.once(_trial_pages) if site.has("trial") else {}


def parting_pages(site: Site) -> dict[Key, str]:
    """Return the paths of the pages that put a failed trial next to a solved one, likewise."""
    return site.once(_parting_pages) if site.has("parting") else {}


def _trial_pages(site: Site) -> dict[Key, str]:
    keep_trials(site)
    keys = map(trial_key, site.rows(_KEYS.format("site_trials")))
    return {key: trial_page(*key) for key in keys}


def _parting_pages(site: Site) -> dict[Key, str]:
    keep_partings(site)
    keys = map(trial_key, site.rows(_KEYS.format("site_partings")))
    return {key: parting_page(*key) for key in keys}


def trial_key(row: Row) -> Key:
    """Return suite, run and result of a row."""
    return row["suite"], row["run_id"], row["result_id"]


def verdict(row: Row) -> str:
    """Return whether a trial passed, in words."""
    return {True: "passed", False: "failed", None: "not judged"}[row["passed"]]


def how_it_ended(row: Row) -> str:
    """Return how a trial ended, in plain words, and the log's own word."""
    words, recorded = _ENDS.get(row["end_reason"], "unknown"), row["recorded_end"]
    return words if recorded is None else f"{words} (in the log: {recorded[:200]})"


def trial_table(site: Site, rows: Sequence[Row], columns: Sequence[str], n_rows: int) -> Table:
    """Return a table of trials with links to their pages.

    Args:
        site: the site.
        rows: rows of the view `trials`.
        columns: their columns, or `verdict`, `ended`, `minutes`, and `solved_trial`, the link to a
            solved trial. The first of them, and the system, link to the trial.
        n_rows: number of the trials that there are.
    """
    pages, partings = trial_pages(site), parting_pages(site)
    shown = [
        {
            **row,
            "verdict": verdict(row),
            "ended": how_it_ended(row),
            "minutes": None if row["duration_ms"] is None else row["duration_ms"] / 60_000,
            "solved_trial": "side by side" if trial_key(row) in partings else "",
        }
        for row in rows
    ]
    return table(
        shown,
        columns,
        headings=_HEADINGS,
        links={
            # Traces and sessions have no task, which is the first column.
            **dict.fromkeys((columns[0], "system"), lambda row: pages.get(trial_key(row))),
            "solved_trial": lambda row: partings.get(trial_key(row)),
            "run_id": lambda row: run_page(row["suite"], row["run_id"]),
        },
        unknown=dict.fromkeys(_OFTEN_UNKNOWN, "unknown"),
        n_rows=n_rows,
    )
