-- The figures of imported published reports and ledgers, the ends of their intervals among them.
-- grain: report × form × model × metric; model is NULL for the report's own label
-- inherits: published
-- source: report or ledger
-- metric: name of the metric; `app_quality_low` and `app_quality_high` are the ends of the 95 %
--     interval of `app_quality_score`
-- value: the figure; NULL if it is not a finite number
-- text: the figure as recorded, if it is not a number
-- posters: scored posters of the model, as reported
-- reported_id: id of the figure
WITH rows_of_models AS (
    SELECT
        *,
        CASE WHEN form = 'ledger' THEN 'ledger' ELSE 'report' END AS source,
        regexp_replace(metric, '_score$', '') AS stem,
        try_cast(
            max(value) FILTER (metric = 'posters') OVER (PARTITION BY suite, report, form, model)
            AS BIGINT
        ) AS posters
    FROM published
    WHERE model <> ''
),

figures AS (
    SELECT * EXCLUDE (text), CASE WHEN value IS NULL THEN text END AS text, '' AS part
    FROM rows_of_models
    WHERE metric <> 'ledger line'
    UNION ALL BY NAME
    SELECT * REPLACE (stem || '_low' AS metric, low AS value, NULL AS text), '_low' AS part
    FROM rows_of_models
    WHERE low IS NOT NULL
    UNION ALL BY NAME
    SELECT * REPLACE (stem || '_high' AS metric, high AS value, NULL AS text), '_high' AS part
    FROM rows_of_models
    WHERE high IS NOT NULL
)

SELECT
    suite,
    report,
    form,
    source,
    run_id,
    seq,
    model,
    metric,
    value,
    text,
    posters,
    published_id || part AS reported_id,
    file_sha256,
    batch
FROM figures
UNION ALL
SELECT
    suite,
    report,
    any_value(form),
    'report',
    run_id,
    0,
    NULL,
    'label',
    NULL,
    label,
    NULL,
    concat_ws('/', suite, report, run_id, label),
    min(file_sha256),
    min(batch)
FROM published
WHERE form <> 'ledger' AND label IS NOT NULL
GROUP BY suite, report, run_id, label
