-- The tasks that a call without an answer did not pass: anything of the task set was judged, and an
-- answer to the task was, unless it never got one. Nothing judges the other tasks.
-- board
-- grain: suite × task set × task × is_replay
-- inherits: scores.asked_tasks
SELECT
    suite,
    task_set,
    task_id,
    is_replay,
    task
FROM scores.asked_tasks
QUALIFY
    bool_or(is_judged) OVER (PARTITION BY suite, task_set, is_replay)
    AND (is_judged OR NOT is_answered)
