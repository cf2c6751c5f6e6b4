-- The models of each poster run with every figure of its report, best first.
-- grain: run × model
-- first: model, app_quality_score, posters, label, gold_posters, prediction_cost_usd,
--     is_on_pareto_front, run_id
-- inherits: scores.all_poster_report
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
    part,
    label,
    posters,
    missing_predictions,
    judged,
    app_quality_score,
    app_quality_low,
    app_quality_high,
    app_quality_std,
    app_core_score,
    app_core_low,
    app_core_high,
    app_core_std,
    avg_score,
    schema_ok_rate,
    schema_valid_rate,
    schema_strict_rate,
    json_parse_rate,
    avg_top_level_score,
    avg_event_match_score,
    avg_core_event_match_score,
    avg_event_count_score,
    avg_location_score,
    avg_venue_score,
    avg_missing_field_rate,
    avg_event_diff,
    avg_date_f1,
    CASE WHEN n_cost_unknown = 0 THEN prediction_cost_usd END AS prediction_cost_usd,
    judge_cost_usd,
    ground_truth_cost_usd,
    CASE WHEN n_cost_unknown = 0 THEN total_cost_usd END AS total_cost_usd,
    gold_posters,
    silver_posters,
    schema_exact_rate,
    avg_missing_of_gold_rate,
    n_cost_unknown,
    is_on_pareto_front,
    app_quality_mean,
    app_core_mean
FROM scores.all_poster_report AS figures
ANTI JOIN replays
    ON figures.run_id = replays.run_id
    AND figures.model = replays.model
ORDER BY run_id, app_quality_mean DESC NULLS LAST, model
