-- The figures of poster_report over the gold and over the silver posters, of runs that have both.
-- grain: run × model × part
-- first: model, part, app_quality_score, posters, app_core_score, run_id
-- inherits: scores.poster_figures
-- part: gold or silver
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
    gold_posters,
    silver_posters,
    schema_exact_rate,
    avg_missing_of_gold_rate,
    app_quality_mean,
    app_core_mean
FROM scores.poster_figures AS figures
ANTI JOIN replays
    ON figures.run_id = replays.run_id
    AND figures.model = replays.model
WHERE part <> 'all'
ORDER BY run_id, part, app_quality_mean DESC NULLS LAST, model
