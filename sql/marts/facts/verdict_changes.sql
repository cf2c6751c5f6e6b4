-- How often each task passed in each run of a model, next to the model's previous run of the task.
-- grain: run × provider × model × settings × task set × task, with a verdict
-- inherits: scores.run_times
-- first: model, settings, task_id, change, pass_rate, run_id
-- n_judged: attempts with a verdict; those without an answer are left out
-- n_passed: attempts that passed
-- previous_run_id: the model's latest earlier run with a verdict on the task; NULL for the first
-- previous_n_judged: attempts with a verdict in that run
-- previous_pass_rate: pass rate of the task in that run
-- change: `gained` if the pass rate is higher than before, `lost` if it is lower, or `same`; NULL for
--     the first run, or if the task's text has changed since
WITH judged AS (
    SELECT
        rates.suite,
        rates.run_id,
        times.position,
        times.run_date,
        times.started_at,
        rates.provider,
        rates.model,
        rates.settings,
        rates.task_set,
        rates.task_id,
        rates.task_hash,
        rates.n_judged,
        rates.n_passed,
        rates.n_passed / rates.n_judged AS pass_rate,
        rates.series,
        rates.task
    FROM scores.task_rates AS rates
    JOIN scores.run_times AS times
        ON rates.suite = times.suite
        AND rates.run_id = times.run_id
    WHERE rates.n_judged > 0 AND rates.n_counted > 0
),

compared AS (
    SELECT
        *,
        lag(run_id) OVER earlier AS previous_run_id,
        lag(n_judged) OVER earlier AS previous_n_judged,
        lag(pass_rate) OVER earlier AS previous_pass_rate,
        coalesce(lag(task_hash) OVER earlier = task_hash, true) AS is_same_task
    FROM judged
    WINDOW earlier AS (
        PARTITION BY series, task ORDER BY position
    )
)

SELECT
    suite,
    run_id,
    run_date,
    started_at,
    provider,
    model,
    settings,
    task_set,
    task_id,
    n_judged,
    n_passed,
    pass_rate,
    previous_run_id,
    previous_n_judged,
    previous_pass_rate,
    CASE
        WHEN NOT is_same_task THEN NULL
        WHEN pass_rate > previous_pass_rate THEN 'gained'
        WHEN pass_rate < previous_pass_rate THEN 'lost'
        WHEN pass_rate = previous_pass_rate THEN 'same'
    END AS change
FROM compared
ORDER BY suite, provider, model, settings, task_set, task_id, position
