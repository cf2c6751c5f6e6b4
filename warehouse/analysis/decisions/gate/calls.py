"""What the calls of some runs cost and how long they took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.analysis.decisions.series import SeriesKey
from warehouse.engine.query import rows_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from warehouse.analysis.decisions.series import SidedRun

# Answers from a cache cost nothing and take no time, so that they would flatter the model.
_TOTALS = """
WITH sides AS (
    SELECT
        unnest($suite) AS suite, unnest($task_set) AS task_set, unnest($provider) AS provider,
        unnest($model) AS model, unnest($settings) AS settings, unnest($run_id) AS run_id
),
calls AS (
    SELECT verdicts.*
    FROM verdicts
    JOIN sides
        ON verdicts.suite = sides.suite
        AND verdicts.run_id = sides.run_id
        AND verdicts.model = sides.model
        AND verdicts.task_set IS NOT DISTINCT FROM sides.task_set
        AND verdicts.provider IS NOT DISTINCT FROM sides.provider
        AND verdicts.settings IS NOT DISTINCT FROM sides.settings
    WHERE NOT verdicts.is_replay AND verdicts.task_id IS NOT NULL
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
        count(latency_ms) FILTER (is_answered) AS n_timed
    FROM of_calls
    GROUP BY ALL
),
of_tasks AS (
    SELECT
        suite, task_set, provider, model, settings,
        count(*) FILTER (n_passed > 0) AS n_passed_tasks,
        -- In this order, so that the last digits are the same every time.
        ratio_error({
            n: count(*),
            n_counted: n_passed_tasks,
            amount: sum(cost_usd ORDER BY task_id),
            total: sum(n_passed),
            amount_squares: sum(cost_usd * cost_usd ORDER BY task_id),
            products: sum(cost_usd * n_passed ORDER BY task_id),
            squares: sum(n_passed ** 2)
        }) AS cost_error,
        independent_tasks(sum(n_timed), sum(n_timed ** 2)) AS n_independent
    FROM by_task
    GROUP BY ALL
),
totals AS (
    SELECT
        suite,
        task_set,
        of_calls.provider,
        model,
        settings,
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
        list_sort(list(latency_ms) FILTER (is_answered AND latency_ms IS NOT NULL)) AS times_ms,
        any_value(n_passed_tasks) AS n_passed_tasks,
        any_value(cost_error) AS cost_error,
        any_value(n_independent) AS n_independent
    FROM of_calls
    JOIN of_tasks
        USING (suite, task_set, model, settings)
    WHERE of_calls.provider IS NOT DISTINCT FROM of_tasks.provider
    GROUP BY suite, task_set, of_calls.provider, model, settings
),
ranked AS (
    SELECT *, percentile_ranks(n_independent, 0.95, tail := $tail) AS ranks
    FROM totals
)
SELECT
    * EXCLUDE (provider, model, settings, times_ms, n_independent, ranks),
    linear_percentile(times_ms, 0.95) AS p95_ms,
    percentile_interval(times_ms, n_independent, ranks).low AS p95_low_ms,
    percentile_interval(times_ms, n_independent, ranks).high AS p95_high_ms
FROM ranked
ORDER BY suite, task_set, provider, model, settings
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
        n_passed_tasks: tasks with such a call.
        cost_error: standard error of the logarithm of the cost of a passed call, see the macro
            `ratio_error`.
        n_answered: calls that were answered.
        n_timed: answered calls whose latency is known.
        p95_ms: 95th percentile of the latency, milliseconds.
        p95_low_ms: lower end of it, one-sided; None where the data do not bound it.
        p95_high_ms: upper end likewise.
    """

    suite: str
    task_set: str | None
    name: str
    n_tasks: int
    n_calls: int
    n_cost_known: int
    cost_usd: float
    n_passed: int
    n_passed_tasks: int
    cost_error: float | None
    n_answered: int
    n_timed: int
    p95_ms: float | None
    p95_low_ms: float | None
    p95_high_ms: float | None


def read_totals(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[SidedRun], *, alpha: float
) -> list[CallTotals]:
    """Return the totals of the calls of some runs, each model and settings apart.

    Args:
        connection: an open warehouse.
        runs: the runs.
        alpha: probability that an end of the latency is on the wrong side, at most.
    """
    parameters: dict[str, object] = {"tail": alpha} | {
        name: [getattr(run.key, name) for run in runs] for name in SeriesKey._fields[1:]
    }
    parameters["run_id"] = [run.run_id for run in runs]
    rows = rows_by_name(connection.execute(_TOTALS, parameters))
    return [CallTotals(**row) for row in rows]
