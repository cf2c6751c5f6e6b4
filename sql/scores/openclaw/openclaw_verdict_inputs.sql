-- The inputs of openclaw_verdicts: the text of each answer and the validator of its task.
-- grain: answered openclaw result whose task is known and has a validator
-- inherits: lake.results, lake.tasks
SELECT
    calls.suite,
    calls.run_id,
    calls.content_id,
    calls.raw_output,
    tasks.validator
FROM lake.results AS calls
JOIN scores.openclaw_run_tasks AS tasks
    ON calls.run_id = tasks.run_id
    AND calls.task_id = tasks.task_id
    AND calls.task_name IS NOT DISTINCT FROM tasks.task_name
    AND calls.task_hash IS NOT DISTINCT FROM tasks.task_hash
WHERE calls.suite = 'openclaw'
    AND calls.availability_status = 'ok'
    AND calls.success
    AND tasks.validator IS NOT NULL
