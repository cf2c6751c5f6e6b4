-- The models of every published poster report, whatever generation of schema it has.
-- grain: report × model
-- form: the generation; where a report is there as a folder and in a ledger, the folder speaks
-- app_core_score: NULL in reports of the first generation, which do not have it
-- place: by app quality in the report, 1 the best
-- is_best_of_day: the best model of all reports published on that day (UTC)
WITH figures AS (
    SELECT *
    FROM published
    WHERE model <> ''
    QUALIFY rank() OVER (
        PARTITION BY suite, report ORDER BY form = 'ledger', batch DESC, form
    ) = 1
)

SELECT
    suite,
    report,
    form,
    published_at,
    published_on,
    any_value(label) AS label,
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
WHERE NOT starts_with(metric, 'difference from ')
GROUP BY suite, report, form, published_at, published_on, model
ORDER BY published_at, report, place, model
