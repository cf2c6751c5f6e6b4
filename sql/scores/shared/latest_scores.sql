-- The score of each model on each task by each metric: that of the latest run in which the task has
-- one, its attempts averaged. By the metric `passed` a call without an answer did not pass.
-- grain: suite × task set × task × provider × model × settings × scorer × metric × filter
-- inherits: scores.scored_tasks, scores.run_times, scores.setups
-- n_scored: attempts with a number
-- is_binary: whether each of their scores is 0 or 1
-- is_share: whether each of them is from 0 to 1
-- score: mean of the attempts
WITH latest AS (
    SELECT
        tasks.series,
        tasks.task,
        tasks.scorer,
        tasks.metric,
        tasks.filter,
        any_value(tasks.task_id) AS task_id,
        max(times.position) AS position,
        arg_max({entry: tasks.entry, scored: tasks.scored}, times.position) AS chosen
    FROM scores.scored_tasks AS tasks
    JOIN scores.run_times AS times
        ON tasks.suite = times.suite
        AND tasks.run_id = times.run_id
    WHERE len(tasks.scored) > 0
    GROUP BY tasks.series, tasks.task, tasks.scorer, tasks.metric, tasks.filter
)

SELECT
    entries.suite,
    entries.task_set,
    latest.task_id,
    entries.provider,
    entries.model,
    entries.settings,
    latest.scorer,
    latest.metric,
    latest.filter,
    entries.run_id,
    latest.position,
    len(latest.chosen.scored) AS n_scored,
    list_bool_and(list_transform(latest.chosen.scored, lambda value: value IN (0, 1)))
        AS is_binary,
    list_bool_and(list_transform(latest.chosen.scored, lambda value: value BETWEEN 0 AND 1))
        AS is_share,
    ordered_mean(latest.chosen.scored) AS score,
    latest.series,
    latest.task
FROM latest
JOIN scores.entries AS entries ON latest.chosen.entry = entries.entry
