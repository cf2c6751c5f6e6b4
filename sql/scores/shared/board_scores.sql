-- The score of each model on each task by each metric: that of its run on the board, its attempts
-- averaged. By the metric `passed` a call without an answer did not pass.
-- grain: suite × task set × task × provider × model × settings × scorer × metric × filter
-- inherits: scores.task_attempts, scores.board_runs
-- n_scored: attempts with a number
-- is_binary: whether each of their scores is 0 or 1
-- is_share: whether each of them is from 0 to 1
-- score: mean of the attempts
SELECT
    board.suite,
    board.task_set,
    tasks.task_id,
    board.provider,
    board.model,
    board.settings,
    tasks.scorer,
    tasks.metric,
    tasks.filter,
    board.run_id,
    board.position,
    -- Verdicts are counted: lists of them, and functions of each element, would take most of the time.
    coalesce(len(tasks.listed), tasks.n_attempts) AS n_scored,
    coalesce(
        list_bool_and(list_transform(tasks.listed, lambda value: value IN (0, 1))), true
    ) AS is_binary,
    coalesce(
        list_bool_and(list_transform(tasks.listed, lambda value: value BETWEEN 0 AND 1)), true
    ) AS is_share,
    coalesce(ordered_mean(tasks.listed), tasks.n_passed / tasks.n_attempts) AS score,
    board.series,
    tasks.task
FROM scores.task_attempts AS tasks
-- An entry has one suite, which a reader of one suite asks for: both sides are then read for it alone.
JOIN scores.board_runs AS board ON tasks.entry = board.entry AND tasks.suite = board.suite
WHERE tasks.listed IS NULL OR len(tasks.listed) > 0
