-- How often each model used a tool when it was asked to.
-- grain: run × provider × model × settings (of openclaw) with answered calls
-- inherits: scores.all_tool_use
-- first: run_id, model, settings, rate, n_used, n_counted
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'openclaw'
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
    rate,
    rate_low,
    rate_high,
    n_recorded,
    n_recorded_used,
    recorded_rate
FROM scores.all_tool_use AS figures
ANTI JOIN replays
    ON figures.run_id = replays.run_id
    AND figures.model = replays.model
ORDER BY run_id, provider, model, settings
