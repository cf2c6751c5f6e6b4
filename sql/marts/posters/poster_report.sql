-- The models of each poster run with every figure of its report, best first.
-- grain: run × model
-- first: model, app_quality_score, posters, label, gold_posters, prediction_cost_usd,
--     is_on_pareto_front, run_id
-- inherits: scores.all_poster_report
-- prediction_cost_usd: cost of the predictions, US dollars; NULL if that of one is unknown
-- total_cost_usd: sum of the three costs, US dollars; NULL if that of a prediction is unknown
SELECT * REPLACE (
    CASE WHEN n_cost_unknown = 0 THEN prediction_cost_usd END AS prediction_cost_usd,
    CASE WHEN n_cost_unknown = 0 THEN total_cost_usd END AS total_cost_usd
)
FROM scores.all_poster_report
ANTI JOIN scores.replayed_models USING (suite, run_id, model)
ORDER BY run_id, app_quality_mean DESC NULLS LAST, model
