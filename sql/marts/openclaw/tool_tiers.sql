-- The tool-use tier of each model, and whether subagents may be routed to it.
-- grain: run × provider × model × settings (of openclaw) with calls that count, or of unknown tier
-- inherits: scores.all_tool_tiers
-- first: run_id, model, settings, tier, rate, n_counted, routing
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'openclaw'
)

SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    tier,
    tier_name,
    is_supported,
    is_recommended,
    could_be_recommended,
    routing,
    n_counted,
    n_used,
    rate,
    rate_low,
    rate_high,
    tier_basis,
    recorded_rate,
    recorded_tier
FROM scores.all_tool_tiers AS figures
ANTI JOIN replays
    ON figures.run_id = replays.run_id
    AND figures.model = replays.model
ORDER BY run_id, tier, rate DESC, provider, model, settings
