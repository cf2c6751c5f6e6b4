-- Every sub-score of every prediction of a poster run.
-- grain: run × model × poster
-- inherits: scores.poster_prediction_scores
-- first: model, task_id, app_quality, app_core, label, run_id
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'posters'
)

SELECT
    suite,
    run_id,
    model,
    task_id,
    seq,
    label,
    output_state,
    app_quality,
    app_core,
    structured,
    top_level,
    event_match,
    core_event_match,
    event_count,
    venue,
    location,
    core_venue,
    core_location,
    missing_field_rate,
    missing_of_gold_rate,
    date_precision,
    date_recall,
    date_f1,
    pred_missing,
    parse_ok,
    schema_valid,
    schema_strict,
    schema_exact,
    gold_events,
    pred_events,
    event_diff,
    reason
FROM scores.poster_prediction_scores
ANTI JOIN replays USING (run_id, model)
ORDER BY run_id, model, seq, task_id
