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
        calls.run_id,
        calls.series,
        any_value(entries.suite) AS suite,
        any_value(entries.provider) AS provider,
        any_value(entries.model) AS model,
        any_value(entries.settings) AS settings,
        CAST(sum(calls.n_called) AS BIGINT) AS n_results,
        CAST(sum(calls.n_cost_known) AS BIGINT) AS n_cost_known,
        sum(calls.n_priced) AS n_priced,
        sum(calls.n_passed_of_known_cost) AS n_passed,
        exact_total(sum(calls.cost_whole), sum(calls.cost_fraction)) AS total_cost_usd,
        try_cast(sum(calls.input_tokens) AS BIGINT) AS input_tokens,
        try_cast(sum(calls.output_tokens) AS BIGINT) AS output_tokens,
        sum(asked.n_priced) AS n_tasks,
        sum(asked.n_priced_passed) AS n_passed_tasks,
        list_aggregate(list(asked.cost_squares ORDER BY asked.task_set), 'fsum') AS cost_squares,
        list_aggregate(list(asked.cost_products ORDER BY asked.task_set), 'fsum') AS cost_products,
        sum(asked.passed_squares) AS passed_squares
    FROM scores.entry_calls AS calls
    JOIN scores.entries AS entries ON calls.entry = entries.entry
    JOIN scores.asked_sets AS asked ON calls.entry = asked.entry
    WHERE calls.is_counted AND NOT calls.is_replay
    GROUP BY calls.run_id, calls.series
    HAVING sum(calls.n_called) > 0
),

ended AS (
    SELECT
        *,
        ratio_interval({
            n: n_tasks,
            n_counted: n_passed_tasks,
            amount: total_cost_usd,
            total: n_passed,
            amount_squares: cost_squares,
            products: cost_products,
            squares: passed_squares
        }) AS ends
    FROM calls
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
    calls.total_cost_usd / nullif(calls.n_priced, 0) AS mean_cost_usd,
    if(is_adaptive, NULL, calls.total_cost_usd / nullif(calls.n_passed, 0)) AS cost_per_passed_usd,
    if(is_adaptive, NULL, calls.ends[1]) AS cost_per_passed_usd_low,
    if(is_adaptive, NULL, calls.ends[2]) AS cost_per_passed_usd_high,
    calls.input_tokens,
    calls.output_tokens,
    adaptive_remark(is_adaptive) AS remark
FROM ended AS calls
JOIN scores.run_headers AS headers
    ON calls.suite = headers.suite
    AND calls.run_id = headers.run_id
JOIN scores.run_times AS times
    ON calls.suite = times.suite
    AND calls.run_id = times.run_id
ORDER BY calls.suite, calls.run_id, calls.provider, calls.model, calls.settings
