-- The models of every suite, best first.
-- grain: suite × provider × model × settings
-- n_judged: results with a verdict
-- pass_rate_low, pass_rate_high: Wilson's 95 % interval
-- n_cost_known: calls whose cost is known; the money figures are over these alone
-- p50_ms, mean_ms: latency of the answered calls
-- tool_tier, routing: of openclaw, over all runs: see tool_tiers; NULL where no call asks for tools
WITH tools AS (
    SELECT
        provider,
        model,
        settings,
        count(is_used) AS n_counted,
        count(*) FILTER (is_used) AS n_used,
        n_used / nullif(n_counted, 0) AS rate
    FROM tool_checks
    WHERE duplicate_of IS NULL
    GROUP BY provider, model, settings
),

boards AS (
    SELECT
        suite,
        provider,
        model,
        settings,
        count(DISTINCT run_id) AS n_runs,
        count(*) AS n_results,
        count(passed) AS n_judged,
        count(*) FILTER (passed) AS n_passed,
        n_passed / nullif(n_judged, 0) AS pass_rate,
        wilson_low(n_passed, n_judged) AS pass_rate_low,
        wilson_high(n_passed, n_judged) AS pass_rate_high,
        percentile_cont(0.50) WITHIN GROUP (ORDER BY latency_ms)
            FILTER (availability_status = 'ok' AND success) AS p50_ms,
        exact_mean(CASE WHEN availability_status = 'ok' AND success THEN latency_ms END) AS mean_ms,
        count(cost_usd) AS n_cost_known,
        exact_sum(cost_usd) AS total_cost_usd,
        exact_sum(cost_usd) / nullif(
            count(*) FILTER (passed AND cost_usd IS NOT NULL), 0
        ) AS cost_per_passed_usd,
        min(run_date) AS first_date,
        max(run_date) AS last_date
    FROM verdicts
    WHERE duplicate_of IS NULL
    GROUP BY suite, provider, model, settings
)

SELECT
    boards.*,
    tool_tier(tools.rate) AS tool_tier,
    tool_routing(
        tools.rate,
        wilson_low(tools.n_used, tools.n_counted),
        wilson_high(tools.n_used, tools.n_counted)
    ) AS routing
FROM boards
LEFT JOIN tools
    ON boards.suite = 'openclaw'
    AND boards.provider IS NOT DISTINCT FROM tools.provider
    AND boards.model IS NOT DISTINCT FROM tools.model
    AND boards.settings = tools.settings
ORDER BY suite, pass_rate DESC NULLS LAST, n_judged DESC, provider, model, settings
