-- Every figure that imported logs, summaries and published reports report, of all suites.
-- grain: source × run or report × position in it
-- inherits: lake.reported_metrics, published
-- first: run_id, model, task_set, scorer, metric, filter, value, stderr, n
-- source: what reports the figure: log; summary (openclaw's summary.json); report or ledger (of
--     published poster reports)
-- report: name of the published report; NULL for a log
-- run_id: run that the figure is about; NULL if a report names none
-- settings: parameters of the calls behind the figure, as in results; NULL if not recorded
-- model: name of the model, as recorded; NULL for all models of a run, and for the label of a report
-- metric: name of the figure, as reported; in summary.json its path: latency_ms.p50; the ends of a
--     report's 95 % interval are figures of their own: app_quality_low, app_quality_high
-- score: `metric` of the scores behind the figure, or what is added up instead of a score:
--     `results.cost_usd`, `results.extra.tokens.total`
-- n: number of tasks behind it, as reported; in summary.json results
-- seq: position in the source; in a published report position of the model, 0 for its label
-- reported_id: id of the figure
SELECT
    suite,
    'log' AS source,
    NULL AS report,
    run_id,
    seq,
    provider,
    model,
    settings_text(settings) AS settings,
    task_set,
    task_group,
    task_sets,
    scorer,
    metric,
    coalesce(score, metric) AS score,
    filter,
    statistic,
    reducer,
    reducer_parameters,
    value,
    text,
    stderr,
    stderr_method,
    n,
    higher_is_better,
    reason,
    extra,
    content_id AS reported_id,
    file_sha256,
    batch
FROM lake.reported_metrics
UNION ALL
SELECT
    suite,
    'summary' AS source,
    NULL AS report,
    run_id,
    seq,
    provider,
    model,
    settings,
    task_set,
    NULL AS task_group,
    NULL AS task_sets,
    NULL AS scorer,
    field AS metric,
    field AS score,
    NULL AS filter,
    NULL AS statistic,
    NULL AS reducer,
    NULL AS reducer_parameters,
    CASE WHEN isfinite(try_cast(recorded AS DOUBLE)) THEN try_cast(recorded AS DOUBLE) END
        AS value,
    CASE WHEN isfinite(try_cast(recorded AS DOUBLE)) IS NOT TRUE THEN recorded END AS text,
    NULL AS stderr,
    NULL AS stderr_method,
    n_total AS n,
    NULL AS higher_is_better,
    NULL AS reason,
    NULL AS extra,
    source_id || '/' || seq AS reported_id,
    file_sha256,
    batch
FROM scores.summary_figures
UNION ALL
SELECT
    suite,
    source,
    report,
    run_id,
    seq,
    NULL AS provider,
    model,
    NULL AS settings,
    NULL AS task_set,
    NULL AS task_group,
    NULL AS task_sets,
    NULL AS scorer,
    metric,
    metric AS score,
    NULL AS filter,
    NULL AS statistic,
    NULL AS reducer,
    NULL AS reducer_parameters,
    value,
    text,
    NULL AS stderr,
    NULL AS stderr_method,
    posters AS n,
    NULL AS higher_is_better,
    NULL AS reason,
    NULL AS extra,
    reported_id,
    file_sha256,
    batch
FROM scores.published_figures
