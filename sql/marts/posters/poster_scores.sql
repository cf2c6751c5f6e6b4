-- Every sub-score of every prediction of a poster run.
-- grain: run × model × poster
-- seq: place of the poster in the manifest
-- label: gold or silver ground truth
-- output_state: missing, cut, not_utf8, null, no_object or object; all of them are scored
-- schema_strict: the original's check of keys and types; schema_exact: the JSON Schema taken literally
-- missing_field_rate: blanks among the predicted events, whatever the gold record has there
-- missing_of_gold_rate: of the fields that the gold events have, the share that is missing
-- app_quality, app_core: the composites, 0 to 100; the rest is 0 to 1, unrounded
-- reason: what could not be read as it stands
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
ORDER BY run_id, model, seq, task_id
