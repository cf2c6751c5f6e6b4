-- What each model cost in each run.
-- grain: run × provider × model × settings
-- first: run_id, model, settings, total_cost_usd, n_results, cost_per_passed_usd
-- cost_per_passed_usd: total_cost_usd per passed call of known cost, US dollars; NULL of an adaptive run
-- cost_per_passed_usd_low: lower end of its 95 % interval over the tasks, US dollars; see ratio_error.
--     NULL below 20 tasks of known cost, or where fewer than 10 of them were passed
-- cost_per_passed_usd_high: upper end of that interval
-- remark: of an adaptive run, why it has no cost per passed call
-- n_results: calls of the model, without answers that came from a cache, which cost nothing
-- input_tokens, output_tokens: sum over the calls that record them; NULL above 2^63 - 1
WITH calls AS (
    -- By the series, as in latency.
    SELECT
        run_id,
        series,
        any_value(suite) AS suite,
        any_value(provider) AS provider,
        any_value(model) AS model,
        any_value(settings) AS settings,
        count(*) AS n_results,
        count(cost_usd) AS n_cost_known,
        exact_sum(cost_usd) AS total_cost_usd,
        exact_mean(cost_usd) AS mean_cost_usd,
        count(*) FILTER (passed AND cost_usd IS NOT NULL) AS n_passed,
        -- Each task was asked once.
        {
            n: n_cost_known,
            n_counted: n_passed,
            amount: total_cost_usd,
            total: n_passed,
            amount_squares: sum(cost_usd * cost_usd),
            products: sum(cost_usd) FILTER (passed),
            squares: n_passed
        } AS sums,
        try_cast(sum(input_tokens) AS BIGINT) AS input_tokens,
        try_cast(sum(output_tokens) AS BIGINT) AS output_tokens
    FROM scores.call_facts
    GROUP BY run_id, series
),

tasks AS (
    SELECT
        entry,
        sum(cost_usd) AS cost_usd,
        count(*) FILTER (passed) AS n_passed
    FROM scores.call_facts
    SEMI JOIN scores.repeated_entries USING (entry)
    WHERE cost_usd IS NOT NULL
    GROUP BY entry, task_id
),

repeated AS (
    SELECT
        entries.run_id,
        entries.series,
        {
            n: count(*),
            n_counted: count(*) FILTER (tasks.n_passed > 0),
            amount: sum(tasks.cost_usd),
            total: sum(tasks.n_passed),
            amount_squares: sum(tasks.cost_usd * tasks.cost_usd),
            products: sum(tasks.cost_usd * tasks.n_passed),
            squares: sum(tasks.n_passed ** 2)
        } AS sums
    FROM tasks
    JOIN scores.repeated_entries AS entries ON tasks.entry = entries.entry
    GROUP BY entries.run_id, entries.series
)

SELECT
    calls.suite,
    calls.run_id,
    times.run_date,
    calls.provider,
    calls.model,
    calls.settings,
    calls.n_results,
    calls.n_cost_known,
    calls.total_cost_usd,
    calls.mean_cost_usd,
    if(is_adaptive, NULL, calls.total_cost_usd / nullif(calls.n_passed, 0)) AS cost_per_passed_usd,
    if(is_adaptive, NULL, ratio_interval(coalesce(repeated.sums, calls.sums))[1]) AS cost_per_passed_usd_low,
    if(is_adaptive, NULL, ratio_interval(coalesce(repeated.sums, calls.sums))[2]) AS cost_per_passed_usd_high,
    calls.input_tokens,
    calls.output_tokens,
    adaptive_remark(is_adaptive) AS remark
FROM calls
JOIN scores.run_headers AS headers
    ON calls.suite = headers.suite
    AND calls.run_id = headers.run_id
JOIN scores.run_times AS times
    ON calls.suite = times.suite
    AND calls.run_id = times.run_id
LEFT JOIN repeated
    ON calls.run_id = repeated.run_id
    AND calls.series = repeated.series
ORDER BY calls.suite, calls.run_id, calls.provider, calls.model, calls.settings
