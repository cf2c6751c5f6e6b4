-- How often each model used a tool when it was asked to.
-- grain: run × provider × model × settings (of openclaw) with answered calls
-- inherits: scores.all_tool_use
-- first: run_id, model, settings, rate, n_used, n_counted
SELECT *
FROM scores.all_tool_use
ANTI JOIN (FROM scores.replayed_models WHERE suite = 'openclaw') USING (run_id, model)
ORDER BY run_id, provider, model, settings
