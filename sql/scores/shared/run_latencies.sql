-- The latency of each model in each run, over the answered calls, as sync keeps it: a page of a
-- large store reads a row of each run, in place of all of its calls.
-- by_run: scores.call_facts, scores.setups, scores.task_facts
-- grain: run × provider × model × settings
-- inherits: scores.call_facts
-- n_timed: answered calls with a known latency, without answers that came from a cache
-- n_timed_tasks: tasks of these calls
-- n_independent: as many tasks with one call each tell as much: attempts at a task are taken for alike
--     (Kish's effective number; the number of tasks where each was asked equally often)
-- p50_ms, p95_ms, p99_ms: NULL below 6 tasks
-- p95_ms_low: lower end of the 95 % interval of p95_ms, an order statistic; NULL below 6 tasks
-- p95_ms_high: upper end of that interval, which takes 72 independent tasks: NULL below, where p95_ms may
--     be above every latency that was seen
-- ttft_p50_ms: median time to the first token of the calls that record it, milliseconds; NULL below 6
--     tasks
WITH answered AS (
    -- By the series, one number: faster than by suite, provider, model and settings.
    SELECT
        run_id,
        series,
        any_value(suite) AS suite,
        any_value(provider) AS provider,
        any_value(model) AS model,
        any_value(settings) AS settings,
        count(latency_ms) AS n_timed,
        list_sort(list(latency_ms) FILTER (latency_ms IS NOT NULL)) AS times_ms,
        exact_mean(latency_ms) AS mean_ms,
        list_sort(list(CAST(ttft_ms AS DOUBLE)) FILTER (ttft_ms IS NOT NULL)) AS ttfts_ms
    FROM scores.call_facts
    WHERE is_answered
    GROUP BY run_id, series
),

-- Runs that asked a model any task more than once: their calls are not independent.
repeating AS (
    SELECT entry
    FROM scores.setups
    SEMI JOIN (
        SELECT suite, run_id
        FROM scores.task_facts
        WHERE n_results > 1
    ) AS repeated USING (suite, run_id)
),

tasks AS (
    SELECT
        any_value(run_id) AS run_id,
        any_value(series) AS series,
        count(latency_ms) AS n_timed,
        count(ttft_ms) AS n_started
    FROM scores.call_facts
    SEMI JOIN repeating USING (entry)
    WHERE is_answered
    GROUP BY entry, task_id
),

repeated AS (
    SELECT
        run_id,
        series,
        count(*) FILTER (n_timed > 0) AS n_timed_tasks,
        count(*) FILTER (n_started > 0) AS n_started_tasks,
        independent_tasks(sum(n_timed), sum(n_timed ** 2)) AS n_independent
    FROM tasks
    GROUP BY run_id, series
),

ranked AS (
    SELECT
        answered.*,
        coalesce(repeated.n_timed_tasks, answered.n_timed) AS n_timed_tasks,
        coalesce(repeated.n_started_tasks, len(answered.ttfts_ms)) AS n_started_tasks,
        coalesce(repeated.n_independent, answered.n_timed) AS n_independent,
        percentile_ranks(coalesce(repeated.n_independent, answered.n_timed), 0.95) AS ranks
    FROM answered
    LEFT JOIN repeated USING (run_id, series)
)

SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    n_timed,
    n_timed_tasks,
    n_independent,
    CASE WHEN n_timed_tasks >= 6 THEN linear_percentile(times_ms, 0.50) END AS p50_ms,
    CASE WHEN n_timed_tasks >= 6 THEN linear_percentile(times_ms, 0.95) END AS p95_ms,
    CASE WHEN n_timed_tasks >= 6 THEN percentile_interval(times_ms, n_independent, ranks).low END
        AS p95_ms_low,
    CASE WHEN n_timed_tasks >= 6 THEN percentile_interval(times_ms, n_independent, ranks).high END
        AS p95_ms_high,
    CASE WHEN n_timed_tasks >= 6 THEN linear_percentile(times_ms, 0.99) END AS p99_ms,
    mean_ms,
    CASE WHEN n_started_tasks >= 6 THEN linear_percentile(ttfts_ms, 0.50) END AS ttft_p50_ms
FROM ranked
