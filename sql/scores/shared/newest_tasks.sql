-- The tasks of the newest version of each task set: the version that the latest run used. A run
-- names its version, or it is the one with the most of the tasks that it asked; of several, and of
-- versions that no run used, the one added last. Task sets without a known version are not here:
-- logs may come without their task file.
-- grain: suite × task set × task
-- inherits: lake.tasks
WITH versions AS (
    SELECT suite, task_set, task_set_hash, max(batch) AS batch
    FROM lake.tasks
    GROUP BY suite, task_set, task_set_hash
),

changed_sets AS (
    SELECT suite, task_set
    FROM versions
    GROUP BY suite, task_set
    HAVING count(*) > 1
),

asked AS (
    SELECT DISTINCT suite, run_id, task_set, task_id, task_hash
    FROM scores.counted_results
    SEMI JOIN changed_sets USING (suite, task_set)
),

named AS (
    SELECT
        suite,
        run_id,
        max(coalesce(task_set_hash, json_extract_string(dataset_hashes, '$.prompts'))) AS named_hash
    FROM lake.runs
    GROUP BY suite, run_id
),

uses AS (
    SELECT
        asked.suite,
        asked.run_id,
        asked.task_set,
        tasks.task_set_hash,
        coalesce(any_value(named.named_hash) = tasks.task_set_hash, false) AS is_named,
        count(*) AS n_tasks
    FROM asked
    JOIN lake.tasks AS tasks
        ON asked.suite = tasks.suite
        AND asked.task_set = tasks.task_set
        AND asked.task_id = tasks.task_id
        AND coalesce(asked.task_hash = tasks.task_hash, true)
    LEFT JOIN named
        ON asked.suite = named.suite
        AND asked.run_id = named.run_id
    GROUP BY asked.suite, asked.run_id, asked.task_set, tasks.task_set_hash
),

used AS (
    SELECT
        uses.suite,
        uses.task_set,
        uses.task_set_hash,
        times.position
    FROM uses
    JOIN versions USING (suite, task_set, task_set_hash)
    JOIN scores.run_times AS times
        ON uses.suite = times.suite
        AND uses.run_id = times.run_id
    QUALIFY row_number() OVER (
        PARTITION BY uses.suite, uses.task_set, uses.run_id
        ORDER BY is_named DESC, n_tasks DESC, versions.batch DESC, uses.task_set_hash
    ) = 1
),

newest AS (
    SELECT versions.suite, versions.task_set, versions.task_set_hash
    FROM versions
    LEFT JOIN used USING (suite, task_set, task_set_hash)
    QUALIFY row_number() OVER (
        PARTITION BY versions.suite, versions.task_set
        ORDER BY used.position DESC NULLS LAST, versions.batch DESC, versions.task_set_hash
    ) = 1
)

SELECT tasks.suite, tasks.task_set, tasks.task_id, min(tasks.task_hash) AS task_hash
FROM lake.tasks AS tasks
SEMI JOIN newest USING (suite, task_set, task_set_hash)
WHERE tasks.exclusion IS NULL AND tasks.status IS DISTINCT FROM 'error'
GROUP BY tasks.suite, tasks.task_set, tasks.task_id
