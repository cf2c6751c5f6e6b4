-- The tasks of the version of each task set that counts; see task_set_versions.
-- grain: suite × task set × task
-- inherits: lake.tasks
SELECT tasks.suite, tasks.task_set, tasks.task_id, min(tasks.task_hash) AS task_hash
FROM lake.tasks AS tasks
SEMI JOIN scores.task_set_versions AS versions
    ON tasks.suite = versions.suite
    AND tasks.task_set = versions.task_set
    AND tasks.task_set_hash = versions.task_set_hash
WHERE tasks.exclusion IS NULL AND tasks.status IS DISTINCT FROM 'error'
GROUP BY tasks.suite, tasks.task_set, tasks.task_id
UNION ALL
SELECT facts.suite, facts.task_set, facts.task_id, facts.task_hash
FROM scores.task_facts AS facts
SEMI JOIN scores.task_set_versions AS versions ON facts.entry = versions.entry
