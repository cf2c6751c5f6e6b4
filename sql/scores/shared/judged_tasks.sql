-- The tasks that a call without an answer did not pass: anything of the task set was judged, and an
-- answer to the task was, unless it never got one. Nothing judges the other tasks.
-- grain: suite × task set × task × is_replay
-- inherits: scores.task_facts
-- is_replay: whether the calls are rehearsals: they decide nothing about real calls
WITH asked AS (
    SELECT
        task,
        is_replay,
        any_value(suite) AS suite,
        any_value(task_set) AS task_set,
        any_value(task_id) AS task_id,
        max(n_judged) > 0 AS is_judged,
        max(n_results - n_unanswered) > 0 AS is_answered
    FROM scores.task_facts
    GROUP BY task, is_replay
)

SELECT
    suite,
    task_set,
    task_id,
    is_replay,
    task
FROM asked
QUALIFY
    bool_or(is_judged) OVER (PARTITION BY suite, task_set, is_replay)
    AND (is_judged OR NOT is_answered)
