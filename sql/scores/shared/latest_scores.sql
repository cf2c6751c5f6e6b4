-- The score of each model on each task by each metric: that of the latest run in which the task has
-- one, its attempts averaged. By the metric `passed` a call without an answer did not pass.
-- grain: suite × task set × task × provider × model × settings × scorer × metric × filter
-- inherits: scores.scored_tasks, scores.run_times
-- n_scored: attempts with a number
-- is_binary: whether each of their scores is 0 or 1
-- is_share: whether each of them is from 0 to 1
-- score: mean of the attempts
SELECT
    tasks.suite,
    tasks.task_set,
    tasks.task_id,
    tasks.provider,
    tasks.model,
    tasks.settings,
    tasks.scorer,
    tasks.metric,
    tasks.filter,
    tasks.run_id,
    times.position,
    len(tasks.scored) AS n_scored,
    list_bool_and(list_transform(tasks.scored, lambda value: value IN (0, 1))) AS is_binary,
    list_bool_and(list_transform(tasks.scored, lambda value: value BETWEEN 0 AND 1)) AS is_share,
    ordered_mean(tasks.scored) AS score
FROM scores.scored_tasks AS tasks
JOIN scores.run_times AS times
    ON tasks.suite = times.suite
    AND tasks.run_id = times.run_id
WHERE len(tasks.scored) > 0
QUALIFY row_number() OVER (
    PARTITION BY
        tasks.suite, tasks.task_set, tasks.task_id, tasks.provider, tasks.model,
        tasks.settings, tasks.scorer, tasks.metric, tasks.filter
    ORDER BY times.position DESC
) = 1
