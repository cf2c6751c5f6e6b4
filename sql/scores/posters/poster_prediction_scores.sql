-- Every sub-score of every prediction, equal to the original program's to the last bit.
-- grain: posters run × model × poster
-- materialised
-- suite: posters
-- key: suite, run_id, model, task_id
-- inputs: poster_score_inputs
WITH scored AS (
    SELECT
        suite,
        run_id,
        model,
        task_id,
        seq,
        label,
        output_state,
        poster_score(gold, prediction) AS score
    FROM inputs
)

SELECT
    suite,
    run_id,
    model,
    task_id,
    seq,
    label,
    output_state,
    score.pred_missing AS pred_missing,
    score.parse_ok AS parse_ok,
    score.schema_valid AS schema_valid,
    score.schema_strict AS schema_strict,
    score.schema_exact AS schema_exact,
    score.gold_events AS gold_events,
    score.pred_events AS pred_events,
    score.event_diff AS event_diff,
    score.date_precision AS date_precision,
    score.date_recall AS date_recall,
    score.date_f1_raw AS date_f1_raw,
    score.date_f1 AS date_f1,
    score.event_count AS event_count,
    score.event_match AS event_match,
    score.venue AS venue,
    score.location AS location,
    score.core_event_match AS core_event_match,
    score.core_venue AS core_venue,
    score.core_location AS core_location,
    score.top_level AS top_level,
    score.missing_field_rate AS missing_field_rate,
    score.missing_of_gold_rate AS missing_of_gold_rate,
    score.structured AS structured,
    score.app_quality AS app_quality,
    score.app_core AS app_core,
    score.matches AS matches,
    score.core_matches AS core_matches,
    score.reason AS reason
FROM scored
