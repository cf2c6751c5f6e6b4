-- The sub-scores of poster_prediction_scores, a row each. Counts of events are not scores and are not
-- here; nor is a share of dates where there are no dates to compare.
-- grain: posters run × model × poster × metric
-- inherits: scores.poster_prediction_scores
-- result_id: result with the prediction; NULL if the run has none, so that the poster scores 0
-- metric: name of the sub-score, as in poster_scores
-- value: the sub-score; 1 or 0 for yes or no
WITH sub_scores AS (
    SELECT
        suite,
        run_id,
        model,
        task_id,
        seq,
        reason,
        unnest([
            'app_quality',
            'app_core',
            'structured',
            'top_level',
            'event_match',
            'core_event_match',
            'event_count',
            'event_diff',
            'venue',
            'location',
            'core_venue',
            'core_location',
            'missing_field_rate',
            'missing_of_gold_rate',
            'date_precision',
            'date_recall',
            'date_f1',
            'parse_ok',
            'schema_valid',
            'schema_strict',
            'schema_exact'
        ]) AS metric,
        unnest([
            app_quality,
            app_core,
            structured,
            top_level,
            event_match,
            core_event_match,
            event_count,
            CAST(event_diff AS DOUBLE),
            venue,
            location,
            core_venue,
            core_location,
            missing_field_rate,
            missing_of_gold_rate,
            date_precision,
            date_recall,
            date_f1,
            CAST(parse_ok AS DOUBLE),
            CAST(schema_valid AS DOUBLE),
            CAST(schema_strict AS DOUBLE),
            CAST(schema_exact AS DOUBLE)
        ]) AS value
    FROM scores.poster_prediction_scores
)

SELECT
    sub_scores.suite,
    sub_scores.run_id,
    sub_scores.model,
    sub_scores.task_id,
    sub_scores.seq,
    predictions.content_id AS result_id,
    sub_scores.metric,
    sub_scores.value,
    sub_scores.reason
FROM sub_scores
LEFT JOIN scores.poster_predictions AS predictions
    ON sub_scores.run_id = predictions.run_id
    AND sub_scores.model = predictions.model
    AND sub_scores.task_id = predictions.task_id
WHERE sub_scores.value IS NOT NULL
