-- What the calls of a model in a run came to: sums that add up over runs without a digit lost, so that
-- boards and lists of runs need not read the results.
-- by_run
-- grain: run × provider × model × settings × task set × is_replay × is_counted
-- inherits: results, scores.setups
-- is_counted: whether the calls are counted here, and not in another run
-- n_unanswered: calls without an answer
-- n_open: calls among them without a verdict; see entry_trials
-- n_judged: calls with a verdict
-- n_recorded: verdicts among them that the log has
-- n_timed: answered calls whose latency is known and below 10^15 ms
-- latency_whole: sum of the whole parts of their latencies, milliseconds; see exact_total
-- latency_fraction: sum of the fractions of their latencies, milliseconds
-- n_called: calls that no cache answered
-- n_priced: calls whose cost is known and below 10^15 US dollars
-- cost_whole: sum of the whole parts of the costs, US dollars; see exact_total
-- cost_fraction: sum of the fractions of the costs, US dollars
-- n_passed_of_known_cost: calls of known cost that passed
-- input_tokens, output_tokens: sum over the calls that no cache answered and that record them
-- p50_ms: median latency of the answered calls, those that another run counts included, milliseconds
-- first_date: first date of the calls; NULL if none is known
SELECT
    calls.suite,
    calls.run_id,
    setups.entry,
    any_value(setups.series) AS series,
    any_value(setups.is_replay) AS is_replay,
    calls.is_counted,
    count(*) AS n_results,
    count(*) FILTER (NOT calls.is_answered) AS n_unanswered,
    count(*) FILTER (NOT calls.is_answered AND calls.passed IS NULL) AS n_open,
    count(calls.passed) AS n_judged,
    count(calls.recorded) AS n_recorded,
    count(*) FILTER (calls.passed) AS n_passed,
    count(calls.latency_whole) AS n_timed,
    sum(calls.latency_whole) AS latency_whole,
    sum(CAST(calls.answered_ms - calls.latency_whole AS DECIMAL(16, 15))) AS latency_fraction,
    count(*) FILTER (calls.is_called) AS n_called,
    count(calls.cost_usd) AS n_cost_known,
    count(calls.cost_whole) AS n_priced,
    sum(calls.cost_whole) AS cost_whole,
    sum(CAST(calls.cost_usd - calls.cost_whole AS DECIMAL(16, 15))) AS cost_fraction,
    count(*) FILTER (calls.passed AND calls.cost_usd IS NOT NULL) AS n_passed_of_known_cost,
    sum(CAST(calls.input_tokens AS DECIMAL(19, 0))) FILTER (calls.is_called) AS input_tokens,
    sum(CAST(calls.output_tokens AS DECIMAL(19, 0))) FILTER (calls.is_called) AS output_tokens,
    min(calls.run_date) AS first_date,
    max(calls.run_date) AS last_date,
    list_median(flatten(
        list(list(calls.answered_ms) FILTER (calls.answered_ms IS NOT NULL))
            OVER (PARTITION BY calls.suite, calls.run_id, setups.entry)
    )) AS p50_ms
FROM (
    SELECT
        suite,
        run_id,
        setup,
        duplicate_of IS NULL AS is_counted,
        is_cached IS NOT TRUE AS is_called,
        input_tokens,
        output_tokens,
        coalesce(is_correct, objective_pass) AS recorded,
        coalesce(recorded, computed_verdict) AS passed,
        coalesce(calendar_date(run_date), CAST(started_at AS DATE)) AS run_date,
        coalesce(
            CASE
                WHEN records_outcomes(suite) THEN availability_status = 'ok' AND success
                ELSE coalesce(availability_status, 'ok') = 'ok' AND coalesce(success, true)
            END,
            false
        ) AS is_answered,
        CASE
            WHEN is_called AND is_answered
                THEN coalesce(CAST(e2e_ms AS DOUBLE), duration_seconds * 1000)
        END AS answered_ms,
        try_cast(floor(answered_ms) AS DECIMAL(15, 0)) AS latency_whole,
        CASE WHEN is_called THEN results.cost_usd END AS cost_usd,
        try_cast(floor(CASE WHEN is_called THEN results.cost_usd END) AS DECIMAL(15, 0)) AS cost_whole
    FROM lake.results AS results
    WHERE NOT is_replaced
) AS calls
JOIN scores.setups AS setups ON calls.setup = setups.setup
GROUP BY calls.suite, calls.run_id, setups.entry, calls.is_counted
