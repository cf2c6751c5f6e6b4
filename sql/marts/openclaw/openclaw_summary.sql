-- Every field of summary.json, and more of our own.
-- grain: run × provider × model × thinking level (of openclaw)
-- inherits: scores.all_openclaw_summary
-- first: run_id, model, thinking_level, objective_pass_rate, n_total, p50_ms, tool_tier
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'openclaw'
)

SELECT
    run_id,
    provider,
    model,
    thinking_level,
    n_total,
    n_ok,
    n_success,
    n_skipped_unavailable,
    n_rate_limited,
    n_auth_error,
    n_error,
    success_rate_ok,
    objective_pass_rate,
    n_recorded,
    n_computed,
    wall_clock_ms,
    p50_ms,
    p95_ms,
    p99_ms,
    mean_ms,
    resources_before,
    resources_after,
    n_tool_counted,
    tool_use_rate,
    tool_tier,
    tier_basis,
    recorded_rate,
    recorded_tier
FROM scores.all_openclaw_summary AS figures
ANTI JOIN replays
    ON figures.run_id = replays.run_id
    AND figures.model = replays.model
ORDER BY
    run_id,
    provider,
    model,
    coalesce(thinking_level, 'None'),
    thinking_level NULLS FIRST
