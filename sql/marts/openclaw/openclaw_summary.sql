-- Every field of summary.json, and more of our own.
-- grain: run × provider × model × thinking level (of openclaw)
-- inherits: scores.all_openclaw_summary
-- first: run_id, model, thinking_level, objective_pass_rate, n_total, p50_ms, tool_tier
SELECT *
FROM scores.all_openclaw_summary
ANTI JOIN (FROM scores.replayed_models WHERE suite = 'openclaw') USING (run_id, model)
ORDER BY
    run_id,
    provider,
    model,
    coalesce(thinking_level, 'None'),
    thinking_level NULLS FIRST
