-- How often each model used a tool that it was asked to use.
-- grain: run × provider × model × settings (of openclaw) with answered calls
-- tier_basis: see tool_checks
-- n_counted: answered calls that count on that basis; n_used: those that used a tool
-- rate_low, rate_high: Wilson's 95 % interval
SELECT
    run_id,
    provider,
    model,
    settings,
    thinking_level,
    any_value(tier_basis) AS tier_basis,
    count(*) AS n_answered,
    count(is_used) AS n_counted,
    count(*) FILTER (is_used) AS n_used,
    n_used / nullif(n_counted, 0) AS rate,
    wilson_low(n_used, n_counted) AS rate_low,
    wilson_high(n_used, n_counted) AS rate_high
FROM tool_checks
WHERE availability_status = 'ok'
GROUP BY run_id, provider, model, settings, thinking_level
ORDER BY run_id, provider, model, settings
