-- The pass rates of a model in a run by cluster, of task sets with tasks that depend on each other; a task
-- that depends on none is a cluster of its own.
-- board
-- by_run
-- grain: run × provider × model × settings × task set
-- inherits: scores.setups
-- sums: sum of the pass rates of the tasks of each cluster
-- sizes: rated tasks of each cluster, in the same order
SELECT
    suite,
    run_id,
    entry,
    list(rates ORDER BY unit) AS sums,
    list(n_rated ORDER BY unit) AS sizes
FROM (
    SELECT
        rates.suite,
        rates.run_id,
        rates.entry,
        coalesce(clusters.cluster, rates.task) AS unit,
        exact_small_sum(rates.pass_rate) AS rates,
        count(*) AS n_rated
    FROM scores.task_rates AS rates
    SEMI JOIN (FROM scores.task_clusters WHERE NOT is_copy) AS clustered
        ON rates.suite = clustered.suite
        AND rates.task_set = clustered.task_set
    LEFT JOIN scores.task_clusters AS clusters ON rates.task = clusters.task
    WHERE rates.pass_rate IS NOT NULL AND rates.is_judged
    GROUP BY rates.suite, rates.run_id, rates.entry, coalesce(clusters.cluster, rates.task)
) AS units
GROUP BY suite, run_id, entry
HAVING count(*) < sum(n_rated)
