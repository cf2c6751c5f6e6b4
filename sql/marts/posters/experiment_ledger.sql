-- The experiment ledger: every model of every published poster report, as the report has it.
-- grain: report × model
-- first: report, model, app_quality_score, posters, total_cost_usd, label
-- report: name of the published folder, `run_id` in experiments.csv
-- seq: position of the model in the report, from 1
-- created_at: when the report was published, as recorded
-- git_commit: commit, as recorded
-- temperature: sampling temperature
-- posters: scored posters
-- missing_predictions: scored posters without a prediction
-- judged: posters with a judge's score
-- app_quality_score: mean app quality, 0 to 100
-- app_quality_low: lower end of its 95 % interval
-- app_quality_high: upper end of its 95 % interval
-- app_core_score: mean app core, 0 to 100; NULL in reports of the first format, which lacks it
-- app_core_low: lower end of its 95 % interval
-- app_core_high: upper end of its 95 % interval
-- schema_strict_rate: share of predictions that pass the original's schema check
-- prediction_cost_usd: cost of the predictions, US dollars
-- judge_cost_usd: cost of the judge's calls, US dollars
-- ground_truth_cost_usd: cost of the ground truth, US dollars
-- total_cost_usd: sum of the three costs, US dollars
-- urls_sha256: SHA-256 of the URL list
-- manifest_sha256: SHA-256 of the manifest
-- label: gold or silver: label of the ground truth; NULL if the report does not say
-- gold_posters: scored posters with gold ground truth; NULL if not recorded
-- silver_posters: scored posters with silver ground truth; NULL if not recorded
-- record: the columns of experiments.csv as JSON, with every value as it was recorded
WITH documents AS (
    SELECT
        suite,
        report,
        arg_max(text, batch) FILTER (metric = 'summary.json') AS summary,
        coalesce(arg_max(text, batch) FILTER (metric = 'run_metadata.json'), '{}') AS metadata,
        coalesce(arg_max(text, batch) FILTER (metric = 'meta.json'), '{}') AS meta
    FROM published
    WHERE suite = 'posters' AND seq = 0 AND (json_valid(text) OR metric NOT LIKE '%.json')
    GROUP BY suite, report
),

models AS (
    SELECT
        suite,
        report,
        metadata,
        meta,
        unnest(json_extract(summary, '$[*]')) AS figures,
        generate_subscripts(json_extract(summary, '$[*]'), 1) AS seq
    FROM documents
),

of_folders AS (
    SELECT
        suite,
        report,
        seq,
        json_merge_patch(
            figures,
            json_object(
                'run_id', report,
                'label', report,  -- like the original, whose code to cut off the time never applies
                'created_at', json_extract(metadata, '$.created_at'),
                'git_commit', json_extract(metadata, '$.git_commit'),
                'temperature', json_extract(metadata, '$.temperature'),
                'urls_sha256', json_extract(metadata, '$.urls_sha256'),
                'manifest_sha256', json_extract(metadata, '$.manifest_sha256'),
                'bootstrap_seed', json_extract(meta, '$.bootstrap.seed'),
                'prompt_hashes', json_extract(meta, '$.prompt_hashes'),
                'app_quality_ci95_low', interval_end(figures, 'app_quality_ci95', 0),
                'app_quality_ci95_high', interval_end(figures, 'app_quality_ci95', 1),
                'app_core_ci95_low', interval_end(figures, 'app_core_ci95', 0),
                'app_core_ci95_high', interval_end(figures, 'app_core_ci95', 1)
            )
        ) AS record
    FROM models
    WHERE json_type(figures) = 'OBJECT'
),

of_ledgers AS (
    SELECT suite, report, seq, text AS record
    FROM published
    WHERE suite = 'posters' AND metric = 'ledger line'
        AND json_type(CASE WHEN json_valid(text) THEN text END) = 'OBJECT'
        AND report NOT IN (SELECT report FROM documents)
    QUALIFY row_number() OVER (PARTITION BY report, model ORDER BY batch DESC, published_id) = 1
),

records AS (
    SELECT suite, report, seq, record FROM of_folders
    UNION ALL
    SELECT suite, report, seq, record FROM of_ledgers
)

SELECT
    records.suite,
    records.report,
    records.seq,
    json_extract_string(record, '$.created_at') AS created_at,
    nullif(json_extract_string(record, '$.git_commit'), '') AS git_commit,
    json_figure(record, 'temperature') AS temperature,
    json_extract_string(record, '$.model') AS model,
    try_cast(json_figure(record, 'posters') AS BIGINT) AS posters,
    try_cast(json_figure(record, 'missing_predictions') AS BIGINT) AS missing_predictions,
    try_cast(json_figure(record, 'judged') AS BIGINT) AS judged,
    json_figure(record, 'app_quality_score') AS app_quality_score,
    json_figure(record, 'app_quality_ci95_low') AS app_quality_low,
    json_figure(record, 'app_quality_ci95_high') AS app_quality_high,
    json_figure(record, 'app_core_score') AS app_core_score,
    json_figure(record, 'app_core_ci95_low') AS app_core_low,
    json_figure(record, 'app_core_ci95_high') AS app_core_high,
    json_figure(record, 'schema_strict_rate') AS schema_strict_rate,
    json_figure(record, 'prediction_cost_usd') AS prediction_cost_usd,
    json_figure(record, 'judge_cost_usd') AS judge_cost_usd,
    json_figure(record, 'ground_truth_cost_usd') AS ground_truth_cost_usd,
    json_figure(record, 'total_cost_usd') AS total_cost_usd,
    nullif(json_extract_string(record, '$.urls_sha256'), '') AS urls_sha256,
    nullif(json_extract_string(record, '$.manifest_sha256'), '') AS manifest_sha256,
    labels.label,
    labels.gold_posters,
    labels.silver_posters,
    CAST(record AS VARCHAR) AS record
FROM records
LEFT JOIN scores.published_labels AS labels
    ON records.suite = labels.suite AND records.report = labels.report
ORDER BY records.report, records.seq
