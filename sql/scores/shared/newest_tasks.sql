-- The tasks of the version of each task set that counts; see task_set_versions.
-- board
-- grain: suite × task set × task
-- inherits: lake.tasks, scores.task_set_versions
WITH versions AS MATERIALIZED (
    SELECT * FROM scores.task_set_versions
),

-- The log of a run that was cut off names the tasks that it did not come to.
planned AS (
    SELECT DISTINCT
        versions.suite,
        versions.task_set,
        versions.version_reason,
        versions.entry,
        unnest(runs.extra ->> '$.eval.dataset.sample_ids[*]') AS task_id
    FROM versions
    JOIN lake.runs
        ON versions.suite = runs.suite
        AND versions.planned_run_id = runs.run_id
)

SELECT
    tasks.suite,
    tasks.task_set,
    any_value(versions.version_reason) AS version_reason,
    tasks.task_id,
    min(tasks.task_hash) AS task_hash
FROM lake.tasks AS tasks
JOIN versions
    ON tasks.suite = versions.suite
    AND tasks.task_set = versions.task_set
    AND tasks.task_set_hash = versions.task_set_hash
WHERE tasks.exclusion IS NULL AND tasks.status IS DISTINCT FROM 'error'
GROUP BY tasks.suite, tasks.task_set, tasks.task_id
UNION ALL
SELECT facts.suite, facts.task_set, versions.version_reason, facts.task_id, facts.task_hash
FROM scores.task_facts AS facts
JOIN versions ON facts.entry = versions.entry
ANTI JOIN (FROM scores.task_clusters WHERE is_copy) AS copies ON facts.task = copies.task
UNION ALL
SELECT planned.suite, planned.task_set, planned.version_reason, planned.task_id, NULL AS task_hash
FROM planned
ANTI JOIN scores.task_facts AS facts USING (entry, task_id)
