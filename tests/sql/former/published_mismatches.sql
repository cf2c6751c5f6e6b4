WITH reports AS (
    SELECT DISTINCT suite, report, run_id, label
    FROM published
    WHERE form <> 'ledger' AND label = 'gold'
),

figures AS (
    SELECT
        published.suite,
        published.report,
        published.run_id,
        published.model,
        published.metric,
        published.value AS recorded,
        CASE published.metric
            WHEN 'posters' THEN ours.posters
            WHEN 'app_quality_score' THEN ours.app_quality_score
            WHEN 'app_core_score' THEN ours.app_core_score
            WHEN 'schema_strict_rate' THEN ours.schema_strict_rate
            WHEN 'json_parse_rate' THEN ours.json_parse_rate
            WHEN 'prediction_cost_usd' THEN ours.prediction_cost_usd
        END AS computed
    FROM published
    JOIN poster_report AS ours
        ON published.run_id = ours.run_id AND published.model = ours.model
    WHERE published.form <> 'ledger'
)

SELECT
    suite,
    report,
    run_id,
    model,
    metric,
    CAST(recorded AS VARCHAR) AS recorded,
    CAST(computed AS VARCHAR) AS computed
FROM figures
WHERE abs(recorded - computed) > 1e-9
UNION ALL
SELECT
    reports.suite,
    reports.report,
    reports.run_id,
    '' AS model,
    'label' AS metric,
    reports.label AS recorded,
    poster_runs.label AS computed
FROM reports
JOIN poster_runs USING (suite, run_id)
WHERE poster_runs.label <> reports.label
ORDER BY ALL
