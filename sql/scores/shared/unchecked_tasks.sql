-- The tasks whose validator judges nothing, so that no verdict of theirs is missing.
-- board
-- grain: suite × task set × task
-- task: hash of the suite, task set and task
SELECT DISTINCT task_number(suite, task_set, task_id) AS task
FROM lake.tasks
WHERE validator ->> '$.type' = 'noop'
