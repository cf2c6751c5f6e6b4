-- The score of each model on each task by each metric: that of its run on the board, its attempts
-- averaged. By the metric `passed` a call without an answer did not pass.
-- grain: suite × task set × task × provider × model × settings × scorer × metric × filter
-- inherits: scores.task_attempts, scores.setups
-- n_scored: attempts with a number
-- is_binary: whether each of their scores is 0 or 1
-- is_share: whether each of them is from 0 to 1
-- score: mean of the attempts
WITH listed AS (
    SELECT
        tasks.series,
        tasks.task,
        tasks.scorer,
        tasks.metric,
        tasks.filter,
        tasks.task_id,
        tasks.entry,
        coalesce(
            tasks.listed, attempts_of(tasks.n_attempts, tasks.n_passed, tasks.first_passed)
        ) AS scored
    FROM scores.task_attempts AS tasks
    SEMI JOIN scores.board_runs AS board ON tasks.entry = board.entry
    WHERE tasks.listed IS NULL OR len(tasks.listed) > 0
)

SELECT
    entries.suite,
    entries.task_set,
    listed.task_id,
    entries.provider,
    entries.model,
    entries.settings,
    listed.scorer,
    listed.metric,
    listed.filter,
    entries.run_id,
    times.position,
    len(listed.scored) AS n_scored,
    list_bool_and(list_transform(listed.scored, lambda value: value IN (0, 1)))
        AS is_binary,
    list_bool_and(list_transform(listed.scored, lambda value: value BETWEEN 0 AND 1))
        AS is_share,
    ordered_mean(listed.scored) AS score,
    listed.series,
    listed.task
FROM listed
JOIN scores.entries AS entries ON listed.entry = entries.entry
JOIN scores.run_times AS times
    ON entries.suite = times.suite
    AND entries.run_id = times.run_id
