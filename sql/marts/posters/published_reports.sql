-- The models of every published poster report, in every version of the format.
-- grain: report × model
-- first: report, model, app_quality_score, posters, place, label
-- inherits: published, scores.published_labels
-- form: format of the report; if both a folder and a ledger have it, the folder is used
-- posters: scored posters
-- app_quality_score: mean app quality, 0 to 100
-- app_quality_low: lower end of its 95 % interval
-- app_quality_high: upper end of its 95 % interval
-- app_core_score: mean app core, 0 to 100; NULL in reports of the first format, which lacks it
-- app_core_low: lower end of its 95 % interval
-- app_core_high: upper end of its 95 % interval
-- schema_strict_rate: share of predictions that pass the original's schema check
-- json_parse_rate: share of predictions that are a JSON object
-- avg_score: mean score by the judge, 0 to 100
-- total_cost_usd: cost of ground truth, predictions and judge, US dollars
-- place: rank by app quality in the report, from 1
-- is_best_of_day: whether it is the best model of all reports published that day (UTC)
WITH figures AS (
    SELECT *
    FROM published
    WHERE model <> ''
    QUALIFY rank() OVER (
        PARTITION BY suite, report ORDER BY form = 'ledger', batch DESC, form
    ) = 1
    -- One import may hold a report twice, with other figures.
    AND row_number() OVER (
        PARTITION BY suite, report, form, model, metric ORDER BY batch DESC, published_id
    ) = 1
)

SELECT
    suite,
    report,
    form,
    published_at,
    published_on,
    any_value(labels.label) AS label,
    any_value(labels.label_source) AS label_source,
    any_value(labels.gold_posters) AS gold_posters,
    any_value(labels.silver_posters) AS silver_posters,
    any_value(run_id) AS run_id,
    model,
    try_cast(any_value(value) FILTER (metric = 'posters') AS BIGINT) AS posters,
    any_value(value) FILTER (metric = 'app_quality_score') AS app_quality_score,
    any_value(low) FILTER (metric = 'app_quality_score') AS app_quality_low,
    any_value(high) FILTER (metric = 'app_quality_score') AS app_quality_high,
    any_value(value) FILTER (metric = 'app_core_score') AS app_core_score,
    any_value(low) FILTER (metric = 'app_core_score') AS app_core_low,
    any_value(high) FILTER (metric = 'app_core_score') AS app_core_high,
    any_value(value) FILTER (metric = 'schema_strict_rate') AS schema_strict_rate,
    any_value(value) FILTER (metric = 'json_parse_rate') AS json_parse_rate,
    any_value(value) FILTER (metric = 'avg_score') AS avg_score,
    any_value(value) FILTER (metric = 'total_cost_usd') AS total_cost_usd,
    rank() OVER (
        PARTITION BY suite, report ORDER BY app_quality_score DESC NULLS LAST
    ) AS place,
    app_quality_score IS NOT NULL AND rank() OVER (
        PARTITION BY suite, published_on ORDER BY app_quality_score DESC NULLS LAST
    ) = 1 AS is_best_of_day
FROM figures
LEFT JOIN scores.published_labels AS labels USING (suite, report)
WHERE NOT starts_with(metric, 'difference from ')
GROUP BY suite, report, form, published_at, published_on, model
ORDER BY published_at, report, place, model
