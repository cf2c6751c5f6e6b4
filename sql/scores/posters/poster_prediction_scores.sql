-- Every sub-score of every prediction, equal to the original program's to the last bit.
-- grain: posters run × model × poster
-- materialised
-- suite: posters
-- key: suite, run_id, model, task_id
-- inputs: poster_score_inputs
-- inherits: scores.poster_score_inputs
-- output_state: missing, cut, not_utf8, null, no_object or object; all of them are scored
-- pred_missing: whether there is no prediction (absent, not JSON, or null)
-- parse_ok: whether the prediction is a JSON object
-- schema_valid: whether it has the required keys and types; other keys are allowed
-- schema_strict: whether it has the required keys and types and no others, the original's check
-- schema_exact: whether it follows the JSON Schema taken literally, with real calendar dates
-- gold_events: events in the gold record
-- pred_events: events in the prediction
-- event_diff: difference between gold_events and pred_events, without sign
-- date_precision: share of the predicted dates that the gold record has; NULL if there are no dates
--     to compare
-- date_recall: share of the gold record's dates that the prediction has; NULL if there are no dates
--     to compare
-- date_f1_raw: harmonic mean of date_precision and date_recall; NULL if there are no dates to
--     compare
-- date_f1: date_f1_raw, with 0 for NULL
-- event_count: 1 - event_diff / the larger number of events
-- event_match: mean similarity of the gold events to their partners, by all fields
-- venue: mean similarity of the venues, events paired by all fields
-- location: mean similarity of city, province and country, events paired by all fields
-- core_event_match: mean similarity of the gold events to their partners, by the core fields
-- core_venue: mean similarity of the venues, events paired by the core fields
-- core_location: mean similarity of city, province and country, events paired by the core fields
-- top_level: weighted mean similarity of the fields outside of events
-- missing_field_rate: share of empty dates, venues, cities and provinces in the predicted events,
--     whatever the gold record has
-- missing_of_gold_rate: share of the gold events' dates, venues, cities and provinces that their
--     partners lack
-- structured: 0.7 × schema_strict + 0.3 × parse_ok
-- app_quality: composite of all sub-scores, 0 to 100, unrounded
-- app_core: composite with events compared by the core fields, 0 to 100, unrounded
-- matches: partner and similarity of each gold event, by all fields
-- core_matches: partner and similarity of each gold event, by the core fields
-- silver_app_quality: app_quality by the record of a model, where the ground truth is gold; NULL without one
-- silver_app_core: app_core by that record
-- reason: what could not be read; NULL if everything could
WITH scored AS (
    SELECT
        suite,
        run_id,
        model,
        task_id,
        seq,
        label,
        output_state,
        poster_score(gold, prediction) AS score,
        CASE WHEN silver IS NOT NULL THEN poster_score(silver, prediction) END AS silver_score
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
    silver_score.app_quality AS silver_app_quality,
    silver_score.app_core AS silver_app_core,
    score.matches AS matches,
    score.core_matches AS core_matches,
    score.reason AS reason
FROM scored
