-- What each model cost in each run.
-- grain: run × provider × model × settings
-- n_cost_known: calls whose cost is known; the money figures are over these alone
-- cost_per_passed_usd: cost of the calls of known cost, per passed one among them
-- input_tokens, output_tokens: sums over the calls that tell them; NULL from 2^63 on
SELECT
    suite,
    run_id,
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
FROM verdicts
WHERE duplicate_of IS NULL
GROUP BY suite, run_id, provider, model, settings
ORDER BY suite, run_id, provider, model, settings
