-- The latest scores of each model on the tasks of a task set, with the means of the tasks and of the model.
-- Adaptive runs, whose tasks were chosen by the answers, are left out: those means would say nothing.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings
-- model_mean: mean over the tasks that the model was asked
-- places: of the tasks that it was asked, their places in task_ids from 0, ascending
-- scores: its means of the attempts at these, from 0 to 1
-- task_ids: all tasks of the set by the metric, the easiest first; NULL but for the best model, as they are
--     the same for all
-- task_means: means of these over the models that were asked; NULL where task_ids is
WITH latest AS (
    SELECT
        suite, task_set, metric, scorer, filter, provider, model, settings, task_id, score, series,
        task
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
    SELECT *, row_number() OVER (
        PARTITION BY suite, task_set, metric, scorer, filter ORDER BY task_mean DESC, task_id
    ) - 1 AS place
    FROM (
        SELECT
            suite, task_set, metric, scorer, filter, task,
            any_value(task_id) AS task_id,
            exact_mean(score) AS task_mean
        FROM latest
        GROUP BY suite, task_set, metric, scorer, filter, task
    )
),

boards AS (
    SELECT
        suite, task_set, metric, scorer, filter,
        list(task_id ORDER BY place) AS task_ids,
        list(task_mean ORDER BY place) AS task_means
    FROM tasks
    GROUP BY suite, task_set, metric, scorer, filter
),

models AS (
    SELECT
        latest.suite, latest.task_set, latest.metric, latest.scorer, latest.filter,
        any_value(latest.provider) AS provider,
        any_value(latest.model) AS model,
        any_value(latest.settings) AS settings,
        exact_mean(latest.score) AS model_mean,
        list(tasks.place ORDER BY tasks.place) AS places,
        list(latest.score ORDER BY tasks.place) AS scores
    FROM latest
    JOIN tasks
        ON latest.task = tasks.task
        AND latest.metric = tasks.metric
        AND latest.scorer IS NOT DISTINCT FROM tasks.scorer
        AND latest.filter IS NOT DISTINCT FROM tasks.filter
    GROUP BY
        latest.suite, latest.task_set, latest.metric, latest.scorer, latest.filter, latest.series
),

ranked AS (
    SELECT *, row_number() OVER (
        PARTITION BY suite, task_set, metric, scorer, filter
        ORDER BY model_mean DESC, provider, model, settings
    ) AS rank
    FROM models
)

SELECT
    ranked.* EXCLUDE (rank),
    boards.task_ids,
    boards.task_means,
    ranked.metric = 'passed' AS is_rate
FROM ranked
LEFT JOIN boards
    ON ranked.rank = 1
    AND ranked.suite = boards.suite
    AND ranked.task_set = boards.task_set
    AND ranked.metric = boards.metric
    AND ranked.scorer IS NOT DISTINCT FROM boards.scorer
    AND ranked.filter IS NOT DISTINCT FROM boards.filter
ORDER BY
    ranked.suite, ranked.task_set, ranked.metric, ranked.scorer, ranked.filter, ranked.rank
