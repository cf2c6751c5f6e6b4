-- The score of each model on easy and on hard tasks: the lower the models' mean on a task, the harder
-- it is. Adaptive runs, whose tasks were chosen by the answers, are left out.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings × band
-- band: from 1, tasks on which all models score 1, to 6, tasks on which all score 0
-- value: mean of the model's latest scores on the tasks of the band
-- n_tasks: tasks of the band that the model was asked
WITH latest AS (
    SELECT suite, task_set, metric, scorer, filter, provider, model, settings, task_id, score
    FROM scores.board_scores
    ANTI JOIN (FROM scores.run_headers WHERE is_adaptive) USING (suite, run_id)
    WHERE
        ($suite IS NULL OR suite = $suite)
        AND ($task_set IS NULL OR task_set = $task_set)
        AND metric = coalesce($metric, 'passed')
        AND ($metric IS NOT NULL OR (scorer IS NULL AND filter IS NULL))
        AND is_share
),

tasks AS (
    SELECT suite, task_set, metric, scorer, filter, task_id, exact_mean(score) AS task_mean
    FROM latest
    GROUP BY suite, task_set, metric, scorer, filter, task_id
),

banded AS (
    SELECT
        latest.*,
        CASE
            WHEN task_mean >= 1 THEN 1
            WHEN task_mean >= 0.75 THEN 2
            WHEN task_mean >= 0.5 THEN 3
            WHEN task_mean >= 0.25 THEN 4
            WHEN task_mean > 0 THEN 5
            ELSE 6
        END AS band
    FROM latest
    JOIN tasks
        ON latest.suite = tasks.suite
        AND latest.task_set = tasks.task_set
        AND latest.metric = tasks.metric
        AND latest.scorer IS NOT DISTINCT FROM tasks.scorer
        AND latest.filter IS NOT DISTINCT FROM tasks.filter
        AND latest.task_id IS NOT DISTINCT FROM tasks.task_id
),

models AS (
    SELECT
        suite, task_set, metric, scorer, filter, provider, model, settings, band,
        exact_mean(score) AS value,
        count(*) AS n_tasks
    FROM banded
    GROUP BY suite, task_set, metric, scorer, filter, provider, model, settings, band
)

SELECT
    suite,
    task_set,
    metric,
    scorer,
    filter,
    provider,
    model,
    settings,
    band,
    value,
    n_tasks,
    sum(value * n_tasks) OVER of_model / sum(n_tasks) OVER of_model AS model_mean,
    metric = 'passed' AS is_rate
FROM models
WINDOW of_model AS (
    PARTITION BY suite, task_set, metric, scorer, filter, provider, model, settings
)
ORDER BY
    suite, task_set, metric, scorer, filter, round(model_mean, 12) DESC, provider, model, settings,
    band
