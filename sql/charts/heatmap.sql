-- The latest score of each model on each task, with the means of the task and of the model. Adaptive runs,
-- whose tasks were chosen by the answers, are left out: those means would say nothing.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings × task
-- value: mean of the attempts, from 0 to 1
-- task_mean: mean over the models that were asked
-- model_mean: mean over the tasks that the model was asked
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

models AS (
    SELECT
        suite, task_set, metric, scorer, filter, provider, model, settings,
        exact_mean(score) AS model_mean
    FROM latest
    GROUP BY suite, task_set, metric, scorer, filter, provider, model, settings
)

SELECT
    latest.suite,
    latest.task_set,
    latest.metric,
    latest.scorer,
    latest.filter,
    latest.provider,
    latest.model,
    latest.settings,
    latest.task_id,
    latest.score AS value,
    tasks.task_mean,
    models.model_mean,
    latest.metric = 'passed' AS is_rate
FROM latest
JOIN tasks
    ON latest.suite = tasks.suite
    AND latest.task_set = tasks.task_set
    AND latest.metric = tasks.metric
    AND latest.scorer IS NOT DISTINCT FROM tasks.scorer
    AND latest.filter IS NOT DISTINCT FROM tasks.filter
    AND latest.task_id IS NOT DISTINCT FROM tasks.task_id
JOIN models
    ON latest.suite = models.suite
    AND latest.task_set = models.task_set
    AND latest.metric = models.metric
    AND latest.scorer IS NOT DISTINCT FROM models.scorer
    AND latest.filter IS NOT DISTINCT FROM models.filter
    AND latest.provider IS NOT DISTINCT FROM models.provider
    AND latest.model IS NOT DISTINCT FROM models.model
    AND latest.settings = models.settings
ORDER BY
    latest.suite, latest.task_set, latest.metric, latest.scorer, latest.filter,
    models.model_mean DESC, latest.provider, latest.model, latest.settings,
    tasks.task_mean DESC, latest.task_id
