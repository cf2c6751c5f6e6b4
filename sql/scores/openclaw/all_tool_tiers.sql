-- The tool-use tier of each model, and whether subagents may be routed to it; of replayed runs too.
-- grain: run × provider × model × settings (of openclaw) with calls that count, or of unknown tier
-- inherits: scores.all_tool_use
-- tier: 1 from 80 % on, 2 from 50 % on, else 3; NULL if no call is known to ask for a tool
-- tier_name: name of the tier; NULL if it is unknown
-- is_supported: whether the rate's 95 % interval lies within the tier's range
-- is_recommended: whether it is recommended for subagent routing with full tool access: only tier 1
--     is
-- could_be_recommended: whether the rate is below 80 %, but its interval reaches it
-- routing: the recommendation in words, or why there is none
-- recorded_tier: tier of recorded_rate, as the original program would give it; only where the tier
--     is unknown: calls that ask for no tool count too, so it is usually too low
SELECT
    'openclaw' AS suite,
    run_id,
    provider,
    model,
    settings,
    tool_tier(rate) AS tier,
    CASE tool_tier(rate)
        WHEN 1 THEN 'Tier 1 (Tool-Capable)'
        WHEN 2 THEN 'Tier 2 (Tool-Capable but Inconsistent)'
        WHEN 3 THEN 'Tier 3 (Tool-Incapable)'
    END AS tier_name,
    tool_tier(rate_low) = tier AND tool_tier(rate_high) = tier AS is_supported,
    tier = 1 AS is_recommended,
    tier > 1 AND rate_high >= 0.8 AS could_be_recommended,
    coalesce(
        tool_routing(rate, rate_low, rate_high),
        'unknown: which prompts ask for tools is not known (import with --prompts)'
    ) AS routing,
    n_counted,
    n_used,
    rate,
    rate_low,
    rate_high,
    tier_basis,
    recorded_rate,
    tool_tier(recorded_rate) AS recorded_tier
FROM scores.all_tool_use AS tool_use
WHERE n_counted > 0 OR n_recorded > 0
ORDER BY run_id, tier, rate DESC, provider, model, settings
