-- The pass rate of each model in each run.
-- grain: run × provider × model × settings × task set
SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    min(run_date) AS run_date,
    count(*) AS n_results,
    count(passed) AS n_judged,
    count(*) FILTER (passed) AS n_passed,
    count(*) FILTER (verdict_source = 'recorded') AS n_recorded,
    count(*) FILTER (verdict_source = 'computed') AS n_computed,
    n_passed / nullif(n_judged, 0) AS pass_rate,
    wilson_low(n_passed, n_judged) AS pass_rate_low,
    wilson_high(n_passed, n_judged) AS pass_rate_high
FROM verdicts
WHERE duplicate_of IS NULL
GROUP BY suite, run_id, provider, model, settings, task_set
ORDER BY suite, run_date, run_id, provider, model, settings, task_set
