-- The cost of each model of a poster run, over the scored posters.
-- grain: run × model
-- inherits: scores.all_poster_costs
-- first: run_id, model, total_cost_usd, prediction_cost_usd, judge_cost_usd
-- n_cost_unknown: predictions of unknown cost
-- prediction_cost_usd: cost of the predictions, US dollars; NULL if that of one is unknown
-- total_cost_usd: sum of the three costs, US dollars; NULL if that of a prediction is unknown
SELECT * REPLACE (
    CASE WHEN n_cost_unknown = 0 THEN prediction_cost_usd END AS prediction_cost_usd,
    CASE WHEN n_cost_unknown = 0 THEN total_cost_usd END AS total_cost_usd
)
FROM scores.all_poster_costs
ANTI JOIN scores.replayed_models USING (suite, run_id, model)
ORDER BY run_id, model
