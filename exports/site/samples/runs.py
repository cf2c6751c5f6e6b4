"""The runs of the sample browser: what a page knows of each, and what its pieces are made from."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from exports.site.samples.query import IS_TASK, samples_query

if TYPE_CHECKING:
    import duckdb

# By suite and run: what the list of runs shows. n_passed and n_failed are NULL where a run has no
# verdict.
_RUNS = """
WITH counted AS (
    SELECT
        calls.suite,
        calls.run_id,
        list(DISTINCT model ORDER BY model) FILTER (model IS NOT NULL) AS models,
        list(DISTINCT task_set ORDER BY task_set) AS task_sets,
        CAST(sum(n_results) AS BIGINT) AS n_samples,
        CAST(sum(n_unanswered) AS BIGINT) AS n_unanswered,
        CAST(sum(n_passed) FILTER (n_judged > 0) AS BIGINT) AS n_passed,
        CAST(sum(n_judged - n_passed) FILTER (n_judged > 0) AS BIGINT) AS n_failed
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
    counted.n_unanswered,
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
    "n_unanswered",
    "n_passed",
    "n_failed",
)

# By the relation that `samples_query` reads: its rows by run. The numbers and places of samples
# follow from `results` and `verdicts`.
SOURCES = {
    "results": "results",
    "verdicts": """(
        SELECT suite, run_id, result_id, passed, recorded, computed, verdict_source FROM verdicts
    )""",
    "result_scores": "result_scores",
    "messages": "messages",
    # Once for each task of a run, not for each result.
    "sample_tasks": f"""(
        SELECT result.run_id, known.*
        FROM (SELECT DISTINCT suite, run_id, task_set, task_id, task_hash FROM results) AS result
        JOIN sample_tasks AS known ON {IS_TASK}
    )""",  # noqa: S608 - a constant
    "sample_items": "sample_items",
    "sample_trials": "sample_trials",
}
_OF_THE_STORE = "batch"  # see `fields.py`
# A sum does not depend on the order of rows, and counts equal ones. 96 bits, so that it fits.
_DIGESTS = """
SELECT
    suite,
    run_id,
    count(*),
    sum(CAST(md5_number(create_sort_key({})) >> 32 AS HUGEINT))
FROM {}
GROUP BY suite, run_id
"""


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
            **dict(zip(RUN_FIELDS[7:], rest, strict=True)),
        }
        runs.append(SampledRun(suite=suite, run_id=run_id, facts=facts))
    return runs


def run_digests(
    connection: duckdb.DuckDBPyConnection, runs: list[SampledRun], made_with: str
) -> dict[tuple[str, str], str]:
    """Return a hash of what the pieces of each run are made from, by suite and ID.

    It is over the rows that the query of samples reads, not over what it returns: DuckDB takes a
    seventh of the time for it.

    Args:
        connection: the store, after `number_runs`.
        runs: the runs.
        made_with: what pieces depend on beyond data: code and choices.
    """
    rows: defaultdict[tuple[str, str], list[object]] = defaultdict(list)
    for name, source in SOURCES.items():
        columns = connection.execute(f"DESCRIBE FROM {source}").fetchall()
        keys = [_sort_key(column, kind) for column, kind, *_ in columns if column != _OF_THE_STORE]
        query = _DIGESTS.format(", ".join(keys), source)
        for suite, run_id, *digest in connection.execute(query).fetchall():
            rows[suite, run_id].append((name, *digest))
    shared = made_with, samples_query(connection)
    return {
        key: sha256(repr([shared, run, rows[key]]).encode()).hexdigest()
        for run in runs
        for key in [(run.suite, run.run_id)]
    }


def _sort_key(column: str, kind: str) -> str:
    """Return a column for `create_sort_key`, which has one key for 0.0 and -0.0."""
    value = f'CAST("{column}" AS VARCHAR)' if kind in {"DOUBLE", "FLOAT"} else f'"{column}"'
    return f"{value}, 'ASC NULLS LAST'"
