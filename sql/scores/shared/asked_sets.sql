-- Which tasks a model was asked in a run, and in which text.
-- by_run
-- grain: run × provider × model × settings × task set
-- inherits: scores.task_facts
-- n_tasks: tasks asked
-- asked: hash of the tasks and their contents, equal for runs that asked the same ones
-- is_answered: whether any call gave an answer
SELECT
    suite,
    run_id,
    task_set,
    entry,
    count(*) AS n_tasks,
    bit_xor(hash(task_id, task_hash)) AS asked,
    sum(n_results) > sum(n_unanswered) AS is_answered
FROM scores.task_facts
WHERE NOT is_replay
GROUP BY suite, run_id, task_set, entry
-- Runs that only repeat calls of another run are not runs of their own.
HAVING max(n_counted) > 0
