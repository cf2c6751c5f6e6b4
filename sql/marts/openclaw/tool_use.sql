-- How often each model used a tool when it was asked to.
-- grain: run × provider × model × settings (of openclaw) with answered calls
-- inherits: tool_checks
-- n_answered: answered calls
-- n_counted: answered calls that count on the tier's basis
-- n_used: counted calls that used a tool
-- rate: n_used / n_counted
-- rate_low: lower end of Wilson's 95 % interval of the rate
-- rate_high: upper end of Wilson's 95 % interval of the rate
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
