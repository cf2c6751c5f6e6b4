-- Each task's pass rate over time.
-- grain: suite × task set × task × day
-- previous_pass_rate: of the day before it on which the task was run
-- n_gained, n_lost: results that differ from the same model's previous one for the task
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
