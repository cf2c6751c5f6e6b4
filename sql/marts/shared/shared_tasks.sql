-- Task sets of any suites and tools that have items in common.
-- grain: pair of task sets with an item in common
-- first: suite, task_set, other_suite, other_task_set, n_shared, share, other_share, n_models
-- suite: suite of the first task set; a pair is shown once, in alphabetical order
-- other_suite, other_task_set: the second task set
-- n_items: different items of the task set, in all its versions, see item_hash in tasks
-- n_other_items: different items of the other task set
-- n_shared: items that both have
-- share: n_shared / n_items
-- other_share: n_shared / n_other_items
-- n_models: models, by name, that answered an item which both have in each of them
WITH asked AS (
    SELECT
        suite,
        task_set,
        item_hash,
        model,
        coalesce(bool_or(success AND NOT is_replay), false) AS is_answered
    FROM result_items
    WHERE item_hash IS NOT NULL
    GROUP BY suite, task_set, item_hash, model
),

answered AS (
    SELECT suite, task_set, item_hash, model
    FROM asked
    WHERE is_answered
),

items AS (
    SELECT suite, task_set, item_hash
    FROM tasks
    WHERE item_hash IS NOT NULL
    UNION
    -- Logs may name another set than the task file that they belong to.
    SELECT suite, task_set, item_hash
    FROM asked
),

sizes AS (
    SELECT suite, task_set, count(*) AS n_items
    FROM items
    GROUP BY suite, task_set
),

shared AS (
    SELECT
        ours.suite,
        ours.task_set,
        others.suite AS other_suite,
        others.task_set AS other_task_set,
        count(*) AS n_shared
    FROM items AS ours
    JOIN items AS others
        ON ours.item_hash = others.item_hash
        AND (ours.suite, ours.task_set) < (others.suite, others.task_set)
    GROUP BY ALL
),

models AS (
    SELECT
        ours.suite,
        ours.task_set,
        others.suite AS other_suite,
        others.task_set AS other_task_set,
        count(DISTINCT ours.model) AS n_models
    FROM answered AS ours
    JOIN answered AS others
        ON ours.item_hash = others.item_hash
        AND ours.model = others.model
        AND (ours.suite, ours.task_set) < (others.suite, others.task_set)
    GROUP BY ALL
)

SELECT
    shared.suite,
    shared.task_set,
    shared.other_suite,
    shared.other_task_set,
    ours.n_items,
    others.n_items AS n_other_items,
    shared.n_shared,
    shared.n_shared / ours.n_items AS share,
    shared.n_shared / others.n_items AS other_share,
    coalesce(models.n_models, 0) AS n_models
FROM shared
JOIN sizes AS ours
    ON shared.suite = ours.suite
    AND shared.task_set = ours.task_set
JOIN sizes AS others
    ON shared.other_suite = others.suite
    AND shared.other_task_set = others.task_set
LEFT JOIN models
    ON shared.suite = models.suite
    AND shared.task_set = models.task_set
    AND shared.other_suite = models.other_suite
    AND shared.other_task_set = models.other_task_set
ORDER BY
    shared.suite = shared.other_suite, shared.n_shared DESC,
    shared.suite, shared.task_set, shared.other_suite, shared.other_task_set
