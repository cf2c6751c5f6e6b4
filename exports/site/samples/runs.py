"""The runs of the sample browser: their list in pieces, and what a page knows of each run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

# By suite and run: what the list of runs shows.
_RUNS = """
WITH counted AS (
    SELECT
        calls.suite,
        calls.run_id,
        list(DISTINCT model ORDER BY model) FILTER (model IS NOT NULL) AS models,
        list(DISTINCT task_set ORDER BY task_set) AS task_sets,
        CAST(sum(n_results) AS BIGINT) AS n_samples,
        CAST(sum(n_passed) AS BIGINT) AS n_passed,
        CAST(sum(n_judged - n_passed) AS BIGINT) AS n_failed
    FROM scores.entry_calls AS calls
    JOIN scores.entries AS entries ON calls.entry = entries.entry
    GROUP BY calls.suite, calls.run_id
)

SELECT
    suite,
    run_id,
    CAST(runs.run_date AS VARCHAR) AS run_date,
    counted.models,
    counted.task_sets,
    map_entries(runs.tags) AS tags,
    runs.is_replay,
    counted.n_samples,
    counted.n_passed,
    counted.n_failed
FROM runs
JOIN counted USING (suite, run_id)
ORDER BY suite, run_id
"""
RUN_FIELDS = (
    "folder",
    "suite",
    "run_id",
    "run_date",
    "models",
    "task_sets",
    "tags",
    "is_replay",
    "n_samples",
    "n_passed",
    "n_failed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRun:
    """A run whose samples have a page.

    Attributes:
        suite: its suite.
        run_id: its ID.
        facts: its date, models, task sets, tags and counts, as a page shows them.
    """

    suite: str
    run_id: str
    facts: dict[str, Any]

    def entry(self, folder: str) -> str:
        """Return the JSON text of its entry in the list of runs, see `RUN_FIELDS`."""
        values = {"folder": folder, "suite": self.suite, "run_id": self.run_id, **self.facts}
        return json.dumps([values[name] for name in RUN_FIELDS], ensure_ascii=False)


def sampled_runs(connection: duckdb.DuckDBPyConnection) -> list[SampledRun]:
    """Return the runs that have results, by suite and ID."""
    runs = []
    for suite, run_id, date, models, task_sets, tags, *rest in connection.execute(_RUNS).fetchall():
        facts = {
            "run_date": date,
            "models": models or [],
            "task_sets": task_sets or [],
            "tags": [[tag["key"], tag["value"]] for tag in tags or []],
            **dict(zip(("is_replay", "n_samples", "n_passed", "n_failed"), rest, strict=True)),
        }
        runs.append(SampledRun(suite=suite, run_id=run_id, facts=facts))
    return runs
