-- The pass rate of each task over time.
-- grain: suite × task set × task × day
-- n_models: models (provider × model × settings) that did the task that day
-- previous_pass_rate: pass rate of the previous day on which the task was run
-- n_gained: results that passed where the same model's previous one for the task failed
-- n_lost: results that failed where the same model's previous one for the task passed
WITH days AS (
    SELECT
        suite,
        task_set,
        task_id,
        run_date,
        count(DISTINCT (provider, model, settings)) AS n_models,
        count(*) AS n_judged,
        count(*) FILTER (passed) AS n_passed,
        n_passed / nullif(n_judged, 0) AS pass_rate,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost
    FROM verdict_changes
    GROUP BY suite, task_set, task_id, run_date
)

SELECT
    suite,
    task_set,
    task_id,
    run_date,
    n_models,
    n_judged,
    n_passed,
    pass_rate,
    lag(pass_rate) OVER (
        PARTITION BY suite, task_set, task_id ORDER BY run_date NULLS FIRST
    ) AS previous_pass_rate,
    n_gained,
    n_lost
FROM days
ORDER BY suite, task_set, task_id, run_date NULLS FIRST
