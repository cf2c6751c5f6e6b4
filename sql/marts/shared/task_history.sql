-- The figures of each task over time, by the metrics of the leaderboard: the pass rate, and the other
-- scores that logs record.
-- grain: suite × task set × metric × scorer × filter × task × day
-- inherits: leaderboard
-- first: metric, task_id, run_date, pass_rate, previous_pass_rate, score, previous_score, n_models
-- metric: `passed`, the verdict, has a pass_rate; every other metric a score
-- n_models: models (provider × model × settings) that did the task that day
-- n_judged: attempts with a verdict
-- n_passed: attempts that passed
-- pass_rate: n_passed / n_judged: calls without an answer are left out, so that no failed call looks
--     like a change
-- previous_pass_rate: pass rate of the previous day on which the task was run
-- score: mean over the runs of the day, attempts averaged within each
-- previous_score: score of the previous day on which the task was scored
-- n_gained: runs in which the task passed more often, or scored higher, than in the model's previous
--     run of it
-- n_lost: runs in which the task passed less often, or scored lower
WITH days AS (
    SELECT
        suite,
        task_set,
        NULL AS scorer,
        'passed' AS metric,
        NULL AS filter,
        task_id,
        run_date,
        count(DISTINCT (provider, model, settings)) AS n_models,
        CAST(sum(n_judged) AS BIGINT) AS n_judged,
        CAST(sum(n_passed) AS BIGINT) AS n_passed,
        NULL AS score,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost
    FROM verdict_changes
    GROUP BY suite, task_set, task_id, run_date
    UNION ALL
    SELECT
        suite,
        task_set,
        scorer,
        metric,
        filter,
        task_id,
        run_date,
        count(DISTINCT (provider, model, settings)) AS n_models,
        NULL AS n_judged,
        NULL AS n_passed,
        ordered_mean(list(score ORDER BY position, provider, model, settings)) AS score,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost
    FROM scores.score_changes
    GROUP BY suite, task_set, scorer, metric, filter, task_id, run_date
)

SELECT
    suite,
    task_set,
    metric,
    scorer,
    filter,
    task_id,
    run_date,
    n_models,
    n_judged,
    n_passed,
    n_passed / n_judged AS pass_rate,
    lag(n_passed / n_judged) OVER earlier AS previous_pass_rate,
    score,
    lag(score) OVER earlier AS previous_score,
    n_gained,
    n_lost
FROM days
WINDOW earlier AS (
    PARTITION BY suite, task_set, metric, scorer, filter, task_id ORDER BY run_date NULLS FIRST
)
ORDER BY
    suite, task_set, metric <> 'passed', metric, scorer, filter, task_id, run_date NULLS FIRST
