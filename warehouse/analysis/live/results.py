"""The results of a run in progress, in memory, and what they show so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from warehouse.core.schemas import RESULTS, rows_sql
from warehouse.engine.query import rows_by_name
from warehouse.engine.statistics.macros import macros
from warehouse.lake.locks import shared_lake_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from warehouse.core.types import Row
    from warehouse.lake.batch import Generation
    from warehouse.lake.lake import Lake

MESSAGE = 200  # characters
N_PACED = 20  # results that the pace is measured by, if the last minute has fewer
_COLUMNS = {
    **dict.fromkeys(("content_id", "stands_in_for", "journal"), pa.string()),
    **dict.fromkeys(("provider", "model", "settings", "task_set", "task_id"), pa.string()),
    "is_answered": pa.bool_(),
    **dict.fromkeys(("status", "failure_type", "message"), pa.string()),
    "passed": pa.bool_(),
    "cost_usd": pa.float64(),
    "ended_at": pa.timestamp("us"),
    "seconds": pa.float64(),
}
_SCHEMA = pa.schema(_COLUMNS)
_TABLES = """
CREATE TEMP TABLE live_results (
    content_id VARCHAR PRIMARY KEY, stands_in_for VARCHAR, journal VARCHAR, provider VARCHAR,
    model VARCHAR, settings VARCHAR, task_set VARCHAR, task_id VARCHAR, is_answered BOOLEAN,
    status VARCHAR, failure_type VARCHAR, message VARCHAR, passed BOOLEAN, cost_usd DOUBLE,
    ended_at TIMESTAMP, seconds DOUBLE
);
CREATE TEMP TABLE live_clusters (task_id VARCHAR, cluster VARCHAR);
CREATE TEMP VIEW current_results AS
FROM live_results
ANTI JOIN (SELECT stands_in_for AS content_id FROM live_results) AS replaced USING (content_id);
"""
_ADD = "INSERT OR REPLACE INTO live_results FROM new_results"
_ADD_EARLIER = f"""
INSERT OR IGNORE INTO live_results
SELECT
    content_id, stands_in_for, NULL, provider, model, settings, task_set, task_id,
    coalesce(availability_status = 'ok' AND success, false), availability_status, failure_type,
    left(raw_output, {MESSAGE}), coalesce(is_correct, objective_pass), cost_usd, ended_at,
    duration_seconds
FROM {rows_sql(RESULTS)}
WHERE suite = $suite AND run_id = $run_id AND generation = $generation
QUALIFY row_number() OVER (PARTITION BY content_id) = 1
"""  # noqa: S608 - constants
# The pauses are those between results of one process.
_TOTALS = f"""
WITH counts AS (
    SELECT
        count(*) AS n_done,
        count(*) FILTER (is_answered) AS n_answered,
        count(*) FILTER (ended_at < $since) AS n_earlier,
        max(ended_at) FILTER (is_answered) AS last_answer_at,
        count(cost_usd) AS n_cost_known,
        exact_sum(cost_usd) AS cost_usd
    FROM current_results
),

pauses AS (
    SELECT
        ended_at, seconds,
        epoch(ended_at - lag(ended_at) OVER (PARTITION BY journal ORDER BY ended_at)) AS pause
    FROM live_results
    WHERE journal IS NOT NULL
),

latest AS (
    SELECT ended_at FROM live_results
    WHERE list_contains($journals, journal) AND ended_at IS NOT NULL
    ORDER BY ended_at DESC
    LIMIT {N_PACED}
)

SELECT
    counts.*,
    (SELECT max(pause) FROM pauses) AS longest_pause_seconds,
    (SELECT max(seconds) FROM pauses) AS slowest_seconds,
    (SELECT count(*) FROM latest) AS n_latest,
    (SELECT min(ended_at) FROM latest) AS latest_since,
    count(*) FILTER (
        list_contains($journals, journal) AND ended_at > $now::TIMESTAMP - INTERVAL 1 MINUTE
    ) AS n_last_minute,
    count(*) FILTER (
        NOT is_answered AND ended_at > coalesce(last_answer_at, TIMESTAMP '0001-01-01')
    ) AS n_failed_last
FROM live_results, counts
GROUP BY ALL
"""  # noqa: S608 - constants
# As scores.outcomes, scores.judged_tasks, scores.task_rates and scores.entry_rates have it.
_MODELS = """
WITH outcomes AS (
    SELECT
        *,
        CASE
            WHEN passed IS NOT NULL THEN passed
            WHEN NOT is_answered
                AND bool_or(passed IS NOT NULL) OVER (PARTITION BY task_set)
                AND bool_and(passed IS NOT NULL OR NOT is_answered) OVER task
                THEN false
            WHEN NOT is_answered AND bool_or(passed IS NOT NULL) OVER task THEN false
        END AS outcome
    FROM current_results
    WINDOW task AS (PARTITION BY task_set, task_id)
),

tasks AS (
    SELECT
        provider, model, settings, task_set, task_id,
        count(*) AS n_results,
        count(*) FILTER (is_answered) AS n_answered,
        count(*) FILTER (is_answered AND passed IS NULL) AS n_unjudged,
        count(passed) AS n_judged,
        count(outcome) AS n_trials,
        count(*) FILTER (outcome) / nullif(count(outcome), 0) AS rate
    FROM outcomes
    GROUP BY ALL
),

units AS (
    SELECT
        provider, model, settings, task_set,
        coalesce('cluster ' || cluster, 'task ' || task_id) AS unit,
        count(rate) AS size, exact_sum(rate) AS rates, exact_sum(rate ** 2) AS squares,
        sum(n_results) AS n_results, sum(n_answered) AS n_answered, sum(n_judged) AS n_judged,
        sum(n_unjudged) AS n_unjudged, sum(n_trials) AS n_trials
    FROM tasks
    LEFT JOIN live_clusters USING (task_id)
    GROUP BY ALL
),

models AS (
    SELECT
        provider, model, settings, task_set,
        sum(size)::BIGINT AS n_rated,
        sum(n_results)::BIGINT AS n_results,
        sum(n_answered)::BIGINT AS n_answered,
        sum(n_judged)::BIGINT AS n_judged,
        sum(n_unjudged)::BIGINT AS n_unjudged,
        sum(n_trials)::BIGINT AS n_trials,
        exact_sum(rates) AS rates,
        exact_sum(squares) AS squares,
        list(rates ORDER BY unit) FILTER (size > 0) AS sums,
        list(size ORDER BY unit) FILTER (size > 0) AS sizes
    FROM units
    GROUP BY provider, model, settings, task_set
),

rated AS (
    SELECT
        *,
        CASE WHEN n_judged > 0 THEN rates / n_rated END AS pass_rate,
        effective_tasks(n_rated, n_trials, rates, squares) AS n_effective,
        CASE WHEN len(sizes) < n_rated THEN clustered_interval(sums, sizes) END AS clustered
    FROM models
)

SELECT
    provider, model, settings, task_set, n_results, n_answered, n_judged, n_unjudged, n_rated,
    pass_rate,
    CASE WHEN len(sizes) < n_rated THEN clustered[1]
        ELSE wilson_low(pass_rate * n_effective, n_effective) END AS pass_rate_low,
    CASE WHEN len(sizes) < n_rated THEN clustered[2]
        ELSE wilson_high(pass_rate * n_effective, n_effective) END AS pass_rate_high
FROM rated
ORDER BY model, settings, provider, task_set
"""
_FAILURES = """
SELECT status, failure_type, count(*) AS n, arg_max(message, ended_at) AS example
FROM current_results
WHERE NOT is_answered
GROUP BY status, failure_type
ORDER BY failure_type = 'circuit_open', n DESC, status, failure_type
"""


class LiveResults:
    """The results of a run: those of its journals, and earlier ones of the lake."""

    def __init__(self) -> None:
        self._connection = macros().cursor()
        self._connection.execute(_TABLES)

    def add(self, journal: str, rows: Iterable[Row]) -> None:
        """Add results of a journal; one with the ID of another replaces it."""
        new = {row["content_id"]: _live_row(journal, row) for row in rows}
        if new:
            self._insert("new_results", pa.Table.from_pylist([*new.values()], _SCHEMA), _ADD)

    def add_earlier(self, lake: Lake, run: Generation) -> None:
        """Add the results that the lake has of the run.

        Raises:
            EvalstoreError: the lake cannot be read.
        """
        with shared_lake_lock(lake.store_path):
            batches = lake.register().holding([run.run])
            if paths := lake.files(batches, RESULTS.name):
                which = {"suite": run.suite, "run_id": run.run_id, "generation": run.generation}
                self._connection.execute(_ADD_EARLIER, {"paths": paths, **which})

    def set_clusters(self, clusters: Mapping[str, str]) -> None:
        """Say which tasks depend on each other: the name of the cluster, by task."""
        columns = {"task_id": [*clusters], "cluster": [*clusters.values()]}
        query = "INSERT INTO live_clusters FROM new_clusters"
        self._connection.execute("DELETE FROM live_clusters")
        self._insert("new_clusters", pa.table(columns), query)

    def totals(self, journals: Iterable[str], since: datetime, now: datetime) -> Row:
        """Return counts, cost and pace.

        Args:
            journals: those that are being written, whose pace it is.
            since: when they were begun (UTC): what ended before is of earlier ones.
            now: the time (UTC).
        """
        values = {"journals": [*journals], "since": since, "now": now}
        executed = self._connection.execute(_TOTALS, values)
        [row] = rows_by_name(executed) or [{}]
        return row

    def models(self) -> list[Row]:
        """Return the pass rate so far of each model, with its interval."""
        return rows_by_name(self._connection.execute(_MODELS))

    def failures(self) -> list[Row]:
        """Return the calls without an answer by reason, those that were not made last."""
        return rows_by_name(self._connection.execute(_FAILURES))

    def close(self) -> None:
        """Forget the results."""
        self._connection.close()

    def _insert(self, name: str, rows: pa.Table, query: str) -> None:
        self._connection.register(name, rows)
        self._connection.execute(query)
        self._connection.unregister(name)


def _live_row(journal: str, row: Row) -> Row:
    is_answered = row.get("availability_status") == "ok" and row.get("success") is True
    passed = row.get("is_correct")
    return {
        **{name: row.get(name) for name in _COLUMNS},
        "journal": journal,
        "is_answered": is_answered,
        "status": row.get("availability_status"),
        "message": None if is_answered else (row.get("raw_output") or "")[:MESSAGE],
        "passed": row.get("objective_pass") if passed is None else passed,
        "seconds": row.get("duration_seconds"),
    }
