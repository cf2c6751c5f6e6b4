-- The tasks that a call without an answer did not pass: anything of the task set was judged, and an
-- answer to the task was, unless it never got one. Nothing judges the other tasks.
-- grain: suite × task set × task × is_replay
-- is_replay: whether the calls are rehearsals: they decide nothing about real calls
SELECT
    suite,
    task_set,
    task_id,
    is_replay
FROM verdicts
GROUP BY suite, task_set, task_id, is_replay
QUALIFY
    bool_or(count(passed) > 0) OVER (PARTITION BY suite, task_set, is_replay)
    AND (
        count(passed) > 0
        OR count(*) FILTER (availability_status = 'ok' AND success) = 0
    )
