-- How often each model used a tool when it was asked to; of replayed runs too.
-- grain: run × provider × model × settings (of openclaw) with answered calls
-- inherits: tool_checks
-- tier_basis: `expected` if the prompt files say of each counted call that it asks for a tool,
--     `inferred` if that is taken from the recorded verdict of one or more; NULL if none is counted
-- n_answered: answered calls
-- n_counted: answered calls known to ask for a tool
-- n_used: counted calls that used an expected tool
-- rate: n_used / n_counted
-- rate_low: lower end of Wilson's 95 % interval of the rate
-- rate_high: upper end of Wilson's 95 % interval of the rate
-- n_recorded: if no call is counted and some prompts are not known: answered calls with a recorded
--     verdict of their tool use, whether or not they ask for a tool; else 0
-- n_recorded_used: calls of n_recorded whose recorded verdict is that a tool was used
-- recorded_rate: n_recorded_used / n_recorded, which is not the rate of a tier
WITH groups AS (
    SELECT
        run_id,
        provider,
        model,
        settings,
        thinking_level,
        max(tier_basis) AS tier_basis,
        count(*) AS n_answered,
        count(is_used) AS n_counted,
        count(*) FILTER (is_used) AS n_used,
        n_counted = 0 AND bool_or(NOT is_task_known) AS is_unknown,
        count(recorded_success) AS n_flags,
        count(*) FILTER (recorded_success) AS n_flags_set
    FROM scores.openclaw_tool_use
    WHERE is_answered
    GROUP BY run_id, provider, model, settings, thinking_level
)

SELECT
    run_id,
    provider,
    model,
    settings,
    thinking_level,
    tier_basis,
    n_answered,
    n_counted,
    n_used,
    n_used / nullif(n_counted, 0) AS rate,
    wilson_low(n_used, n_counted) AS rate_low,
    wilson_high(n_used, n_counted) AS rate_high,
    if(is_unknown, n_flags, 0) AS n_recorded,
    if(is_unknown, n_flags_set, 0) AS n_recorded_used,
    n_recorded_used / nullif(n_recorded, 0) AS recorded_rate
FROM groups
ORDER BY run_id, provider, model, settings
