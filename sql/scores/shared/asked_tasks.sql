-- The tasks that were ever asked, and what any run made of them.
-- board
-- grain: suite × task set × task × is_replay
-- inherits: scores.task_facts
-- is_replay: whether the calls are rehearsals: they decide nothing about real calls
-- is_judged: whether any attempt in any run has a verdict
-- is_answered: whether any attempt in any run gave an answer
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
