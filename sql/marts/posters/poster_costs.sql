-- The cost of each model of a poster run, over the scored posters.
-- grain: run × model
-- inherits: scores.all_poster_costs
-- first: run_id, model, total_cost_usd, prediction_cost_usd, judge_cost_usd
-- n_cost_unknown: predictions of unknown cost
-- prediction_cost_usd: cost of the predictions, US dollars; NULL if that of one is unknown
-- total_cost_usd: sum of the three costs, US dollars; NULL if that of a prediction is unknown
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'posters'
)

SELECT
    suite,
    run_id,
    model,
    n_cost_known,
    n_cost_unknown,
    CASE WHEN n_cost_unknown = 0 THEN prediction_cost_usd END AS prediction_cost_usd,
    judge_cost_usd,
    ground_truth_cost_usd,
    CASE WHEN n_cost_unknown = 0 THEN total_cost_usd END AS total_cost_usd
FROM scores.all_poster_costs AS figures
ANTI JOIN replays
    ON figures.run_id = replays.run_id
    AND figures.model = replays.model
ORDER BY run_id, model
