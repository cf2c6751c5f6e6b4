-- Every figure of a poster report's summary, over all posters and over its gold and silver parts.
-- grain: run × model × part
-- part: all; and, where the ground truth is both, gold and silver
-- label: gold if all the ground truth behind the figures is, else silver
-- posters: scored posters
-- missing_predictions: scored posters without a prediction
-- judged: posters with a judge's score
-- app_quality_score: mean app quality, 0 to 100; this and the figures below are rounded as in the
--     original
-- app_quality_low: lower end of the 95 % bootstrap interval of the mean app quality; like the other
--     ends NULL for a single poster
-- app_quality_high: upper end of the 95 % bootstrap interval of the mean app quality
-- app_quality_std: standard deviation of the app quality, as of a population
-- app_core_score: mean app core, 0 to 100
-- app_core_low: lower end of the 95 % bootstrap interval of the mean app core
-- app_core_high: upper end of the 95 % bootstrap interval of the mean app core
-- app_core_std: standard deviation of the app core, as of a population
-- avg_score: mean score by the judge, 0 to 100
-- schema_ok_rate: share of the judged posters that the judge calls valid
-- schema_valid_rate: share of predictions with schema_valid, see poster_scores
-- schema_strict_rate: share of predictions with schema_strict, see poster_scores
-- json_parse_rate: share of predictions that are a JSON object
-- avg_top_level_score: mean top_level, see poster_scores
-- avg_event_match_score: mean event_match, see poster_scores
-- avg_core_event_match_score: mean core_event_match, see poster_scores
-- avg_event_count_score: mean event_count, see poster_scores
-- avg_location_score: mean location, see poster_scores
-- avg_venue_score: mean venue, see poster_scores
-- avg_missing_field_rate: mean missing_field_rate, see poster_scores
-- avg_event_diff: mean event_diff, see poster_scores
-- avg_date_f1: mean date_f1, see poster_scores
-- gold_posters: scored posters with gold ground truth
-- silver_posters: scored posters with silver ground truth
-- schema_exact_rate: share of predictions with schema_exact, see poster_scores
-- avg_missing_of_gold_rate: mean missing_of_gold_rate, see poster_scores
-- app_quality_mean: mean app quality, unrounded
-- app_core_mean: mean app core, unrounded
WITH parts AS (
    SELECT *, 'all' AS part FROM scores.poster_prediction_scores
    UNION ALL
    SELECT *, label AS part FROM scores.poster_prediction_scores
    WHERE (run_id, label) IN (SELECT (run_id, part) FROM scores.poster_intervals)
),

judged AS (
    SELECT
        run_id,
        model,
        task_id,
        overall_score,
        coalesce(
            CAST(json_extract(document, '$.schema_ok') AS VARCHAR)
                NOT IN ('false', '0', '0.0', '-0.0', '""', '[]', '{}', 'null'),
            false
        ) AS schema_ok
    FROM lake.judgements
    WHERE suite = 'posters' AND json_type(document) = 'OBJECT' AND overall_score IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY run_id, model, task_id ORDER BY batch DESC, content_id
    ) = 1
),

by_model AS (
    SELECT
        parts.run_id,
        parts.model,
        parts.part,
        CASE WHEN count(*) = count(*) FILTER (parts.label = 'gold') THEN 'gold' ELSE 'silver' END
            AS label,
        count(*) AS posters,
        count(*) FILTER (parts.label = 'gold') AS gold_posters,
        count(*) FILTER (parts.label = 'silver') AS silver_posters,
        count(*) FILTER (parts.pred_missing) AS missing_predictions,
        count(judged.task_id) AS judged,
        ordered_mean(list(app_quality ORDER BY seq, parts.task_id)) AS app_quality_mean,
        ordered_mean(list(app_core ORDER BY seq, parts.task_id)) AS app_core_mean,
        ordered_mean(
            list(judged.overall_score ORDER BY seq, parts.task_id)
                FILTER (judged.task_id IS NOT NULL)
        ) AS judge_mean,
        count(*) FILTER (judged.schema_ok) / nullif(count(judged.task_id), 0) AS schema_ok,
        count(*) FILTER (schema_valid) / count(*) AS schema_valid,
        count(*) FILTER (schema_strict) / count(*) AS schema_strict,
        count(*) FILTER (schema_exact) / count(*) AS schema_exact,
        count(*) FILTER (parse_ok) / count(*) AS parse_ok,
        ordered_mean(list(top_level ORDER BY seq, parts.task_id)) AS top_level,
        ordered_mean(list(event_match ORDER BY seq, parts.task_id)) AS event_match,
        ordered_mean(list(core_event_match ORDER BY seq, parts.task_id)) AS core_event_match,
        ordered_mean(list(event_count ORDER BY seq, parts.task_id)) AS event_count,
        ordered_mean(list(location ORDER BY seq, parts.task_id)) AS location,
        ordered_mean(list(venue ORDER BY seq, parts.task_id)) AS venue,
        ordered_mean(list(missing_field_rate ORDER BY seq, parts.task_id)) AS missing_field,
        ordered_mean(list(missing_of_gold_rate ORDER BY seq, parts.task_id)) AS missing_of_gold,
        sum(event_diff) / count(*) AS event_diff,
        ordered_mean(list(date_f1 ORDER BY seq, parts.task_id)) AS date_f1
    FROM parts
    LEFT JOIN judged
        ON parts.run_id = judged.run_id
        AND parts.model = judged.model
        AND parts.task_id = judged.task_id
    GROUP BY parts.run_id, parts.model, parts.part
),

reported AS (
    SELECT suite, run_id, unnest(models) AS model, 'all' AS part FROM scores.poster_run_setups
    UNION
    SELECT 'posters' AS suite, run_id, model, part FROM by_model
)

SELECT
    reported.suite,
    reported.run_id,
    reported.model,
    reported.part,
    by_model.label,
    coalesce(by_model.posters, 0) AS posters,
    coalesce(by_model.missing_predictions, 0) AS missing_predictions,
    coalesce(by_model.judged, 0) AS judged,
    rounded(by_model.app_quality_mean, 2) AS app_quality_score,
    rounded(intervals.quality_low, 2) AS app_quality_low,
    rounded(intervals.quality_high, 2) AS app_quality_high,
    coalesce(rounded(intervals.quality_std, 3), 0.0) AS app_quality_std,
    rounded(by_model.app_core_mean, 2) AS app_core_score,
    rounded(intervals.core_low, 2) AS app_core_low,
    rounded(intervals.core_high, 2) AS app_core_high,
    coalesce(rounded(intervals.core_std, 3), 0.0) AS app_core_std,
    rounded(by_model.judge_mean, 2) AS avg_score,
    rounded(by_model.schema_ok, 3) AS schema_ok_rate,
    rounded(by_model.schema_valid, 3) AS schema_valid_rate,
    rounded(by_model.schema_strict, 3) AS schema_strict_rate,
    rounded(by_model.parse_ok, 3) AS json_parse_rate,
    rounded(by_model.top_level, 3) AS avg_top_level_score,
    rounded(by_model.event_match, 3) AS avg_event_match_score,
    rounded(by_model.core_event_match, 3) AS avg_core_event_match_score,
    rounded(by_model.event_count, 3) AS avg_event_count_score,
    rounded(by_model.location, 3) AS avg_location_score,
    rounded(by_model.venue, 3) AS avg_venue_score,
    rounded(by_model.missing_field, 3) AS avg_missing_field_rate,
    rounded(by_model.event_diff, 3) AS avg_event_diff,
    rounded(by_model.date_f1, 3) AS avg_date_f1,
    coalesce(by_model.gold_posters, 0) AS gold_posters,
    coalesce(by_model.silver_posters, 0) AS silver_posters,
    rounded(by_model.schema_exact, 3) AS schema_exact_rate,
    rounded(by_model.missing_of_gold, 3) AS avg_missing_of_gold_rate,
    by_model.app_quality_mean,
    by_model.app_core_mean
FROM reported
LEFT JOIN by_model
    ON reported.run_id = by_model.run_id
    AND reported.model = by_model.model
    AND reported.part = by_model.part
LEFT JOIN scores.poster_intervals AS intervals
    ON reported.run_id = intervals.run_id
    AND reported.model = intervals.model
    AND reported.part = intervals.part
