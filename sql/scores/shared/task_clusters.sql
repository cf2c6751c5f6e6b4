-- Which tasks of a task set depend on each other: questions about one passage, variants of one item. A
-- task belongs to the cluster that its table, suite or log names, else to that of the same item in
-- another task set. Items that several tasks of a set share (one prompt for many pictures) name none.
-- board
-- grain: suite × task set × task
-- inherits: lake.tasks, scores.task_facts
-- cluster: hash of the cluster; NULL of copies
-- is_copy: whether it is a changed copy of a task of the set, as HELM's perturbations make them: it is on
--     no board, since a set of n tasks and their copies is none of 2 n tasks
WITH declared AS (
    SELECT suite, task_set, task_id, min(task_number(suite, task_set, cluster)) AS cluster
    FROM lake.tasks
    WHERE cluster IS NOT NULL
    GROUP BY suite, task_set, task_id
    UNION ALL
    SELECT suite, task_set, task_id, cluster
    FROM scores.inspect_clusters
),

items AS (
    SELECT item_hash, min(cluster) AS cluster
    FROM (
        SELECT tasks.item_hash, min(declared.cluster) AS cluster
        FROM tasks
        JOIN declared USING (suite, task_set, task_id)
        WHERE tasks.item_hash IS NOT NULL
        GROUP BY tasks.item_hash, tasks.suite, tasks.task_set
        HAVING min(tasks.task_id) = max(tasks.task_id)
    ) AS of_sets
    GROUP BY item_hash
),

carried AS (
    SELECT suite, task_set, task_id, cluster
    FROM (
        SELECT
            tasks.suite,
            tasks.task_set,
            min(tasks.task_id) AS task_id,
            min(items.cluster) AS cluster
        FROM items
        JOIN tasks ON items.item_hash = tasks.item_hash
        GROUP BY tasks.suite, tasks.task_set, tasks.item_hash
        HAVING min(tasks.task_id) = max(tasks.task_id)
    ) AS of_sets
    ANTI JOIN declared USING (suite, task_set, task_id)
),

clusters AS (
    SELECT suite, task_set, task_id, min(cluster) AS cluster
    FROM (FROM declared UNION ALL FROM carried)
    GROUP BY suite, task_set, task_id
    -- A task alone in its cluster depends on none.
    QUALIFY count(*) OVER (PARTITION BY suite, task_set, min(cluster)) > 1
)

SELECT task_number(suite, task_set, task_id) AS task, suite, task_set, task_id, cluster, false AS is_copy
FROM clusters
UNION ALL
SELECT DISTINCT task_number(suite, task_set, task_id), suite, task_set, task_id, NULL, true
FROM scores.helm_copies
