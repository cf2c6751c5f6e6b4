-- What each model cost in each run.
-- grain: run × provider × model × settings
-- first: run_id, model, settings, total_cost_usd, n_results, cost_per_passed_usd
-- cost_per_passed_usd: total_cost_usd per passed call of known cost, US dollars
-- n_results: calls of the model, without answers that came from a cache, which cost nothing
-- input_tokens, output_tokens: sum over the calls that record them; NULL above 2^63 - 1
SELECT
    suite,
    run_id,
    times.run_date,
    provider,
    model,
    settings,
    count(*) AS n_results,
    count(cost_usd) AS n_cost_known,
    exact_sum(cost_usd) AS total_cost_usd,
    exact_mean(cost_usd) AS mean_cost_usd,
    exact_sum(cost_usd) / nullif(
        count(*) FILTER (passed AND cost_usd IS NOT NULL), 0
    ) AS cost_per_passed_usd,
    try_cast(sum(input_tokens) AS BIGINT) AS input_tokens,
    try_cast(sum(output_tokens) AS BIGINT) AS output_tokens
FROM scores.counted_verdicts
JOIN scores.run_times AS times USING (suite, run_id)
WHERE NOT is_cached
GROUP BY suite, run_id, times.run_date, provider, model, settings
ORDER BY suite, run_id, provider, model, settings
