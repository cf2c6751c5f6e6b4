-- The tool-use tier of each model, and whether subagents may be routed to it.
-- grain: run × provider × model × settings (of openclaw) with calls that count, or of unknown tier
-- inherits: scores.all_tool_tiers
-- first: run_id, model, settings, tier, rate, n_counted, routing
SELECT *
FROM scores.all_tool_tiers
ANTI JOIN (FROM scores.replayed_models WHERE suite = 'openclaw') USING (run_id, model)
ORDER BY run_id, tier, rate DESC, provider, model, settings
