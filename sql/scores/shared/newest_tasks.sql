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
UNION ALL
-- The log of a run that was cut off names the tasks that it did not come to.
SELECT planned.suite, planned.task_set, planned.task_id, NULL AS task_hash
FROM (
    SELECT DISTINCT
        versions.suite,
        versions.task_set,
        versions.entry,
        unnest(runs.extra ->> '$.eval.dataset.sample_ids[*]') AS task_id
    FROM scores.task_set_versions AS versions
    JOIN lake.runs
        ON versions.suite = runs.suite
        AND versions.planned_run_id = runs.run_id
) AS planned
ANTI JOIN scores.task_facts AS facts USING (entry, task_id)
