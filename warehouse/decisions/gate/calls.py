"""What the calls of a side cost and how long they took, over its latest run of each task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

    from warehouse.decisions.sides import ResolvedSide

# Answers from a cache cost nothing and take no time, so that they would flatter the model.
_TOTALS = """
WITH sides AS (
    SELECT unnest($suite) AS suite, unnest($run_id) AS run_id, unnest($model) AS model
),
calls AS (
    SELECT verdicts.*, times.position
    FROM verdicts
    JOIN sides USING (suite, run_id, model)
    JOIN scores.run_times AS times USING (suite, run_id)
    WHERE NOT verdicts.is_replay AND verdicts.task_id IS NOT NULL
        AND ($only_suite IS NULL OR suite = $only_suite)
        AND ($only_task_set IS NULL OR task_set = $only_task_set)
    QUALIFY times.position = max(times.position) OVER (
        PARTITION BY suite, task_set, provider, model, settings, task_id
    )
),
of_calls AS (
    SELECT
        *,
        coalesce(availability_status = 'ok' AND success, false) AS is_answered
    FROM calls
    WHERE NOT is_cached
),
by_task AS (
    SELECT
        suite, task_set, provider, model, settings, task_id,
        coalesce(exact_sum(cost_usd), 0.0) AS cost_usd,
        count(*) FILTER (passed AND cost_usd IS NOT NULL) AS n_passed,
        list_sort(list(latency_ms) FILTER (is_answered AND latency_ms IS NOT NULL)) AS latencies
    FROM of_calls
    GROUP BY ALL
),
of_tasks AS (
    SELECT
        suite, task_set, provider, model, settings,
        list(cost_usd ORDER BY task_id) AS task_costs_usd,
        list(n_passed ORDER BY task_id) AS task_passes,
        list(coalesce(latencies, []) ORDER BY task_id) AS task_latencies_ms
    FROM by_task
    GROUP BY ALL
)
SELECT
    suite,
    task_set,
    concat_ws(
        ' ',
        model,
        '(' || nullif(concat_ws(', ', of_calls.provider, nullif(settings, '')), '') || ')'
    ) AS name,
    count(DISTINCT task_id) AS n_tasks,
    count(*) AS n_calls,
    count(cost_usd) AS n_cost_known,
    coalesce(exact_sum(cost_usd), 0.0) AS cost_usd,
    count(*) FILTER (passed AND cost_usd IS NOT NULL) AS n_passed,
    count(*) FILTER (is_answered) AS n_answered,
    count(latency_ms) FILTER (is_answered) AS n_timed,
    linear_percentile(
        list_sort(list(latency_ms) FILTER (is_answered AND latency_ms IS NOT NULL)), 0.95
    ) AS p95_ms,
    any_value(task_costs_usd) AS task_costs_usd,
    any_value(task_passes) AS task_passes,
    any_value(task_latencies_ms) AS task_latencies_ms
FROM of_calls
JOIN of_tasks
    USING (suite, task_set, model, settings)
WHERE of_calls.provider IS NOT DISTINCT FROM of_tasks.provider
GROUP BY suite, task_set, of_calls.provider, model, settings
ORDER BY suite, task_set, of_calls.provider, model, settings
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTotals:
    """The calls of one model with one settings, on one task set.

    Attributes:
        suite: suite.
        task_set: task set.
        name: model, with its provider and settings if they are known.
        n_tasks: tasks.
        n_calls: calls, without answers from a cache.
        n_cost_known: calls whose cost is known.
        cost_usd: cost of these, US dollars.
        n_passed: how many of these passed.
        n_answered: calls that were answered.
        n_timed: answered calls whose latency is known.
        p95_ms: 95th percentile of the latency, milliseconds.
        task_costs_usd: known cost of each task.
        task_passes: passed calls of known cost of each task.
        task_latencies_ms: latencies of each task's answers, milliseconds.
    """

    suite: str
    task_set: str | None
    name: str
    n_tasks: int
    n_calls: int
    n_cost_known: int
    cost_usd: float
    n_passed: int
    n_answered: int
    n_timed: int
    p95_ms: float | None
    task_costs_usd: list[float]
    task_passes: list[int]
    task_latencies_ms: list[list[float]]


def read_totals(
    connection: duckdb.DuckDBPyConnection,
    side: ResolvedSide,
    *,
    suite: str | None = None,
    task_set: str | None = None,
) -> list[CallTotals]:
    """Return the totals of a side's calls.

    Args:
        connection: an open warehouse.
        side: the side.
        suite: the only suite that counts.
        task_set: the only task set that counts.
    """
    names = ("suite", "run_id", "model")
    parameters: dict[str, object] = {
        name: [call[at] for call in side.calls] for at, name in enumerate(names)
    }
    parameters |= {"only_suite": suite, "only_task_set": task_set}
    cursor = connection.execute(_TOTALS, parameters)
    columns = [column[0] for column in cursor.description or ()]
    return [CallTotals(**dict(zip(columns, row, strict=True))) for row in cursor.fetchall()]
