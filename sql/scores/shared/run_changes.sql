-- What each run passed more and less often than the model's previous run of each task: what the tests of
-- `model_history` need.
-- board
-- grain: run × provider × model × settings × task set, with a task that an earlier run has, too
-- inherits: model_history, scores.series_runs
-- n_kept: tasks that passed as often as before, and did pass
-- is_pass_or_fail: whether each task was judged once in both runs
-- n_units: clusters of the tasks; NULL where no two of them are known to depend on each other
-- df: degrees of freedom of Student's test
-- standard_error: standard error of the change; NULL where all tasks, or clusters, changed alike
WITH steps AS (
    SELECT
        subject,
        entry,
        task,
        change,
        pass_rate,
        n_judged = 1 AND previous_n_judged = 1 AS is_pass_or_fail,
        pass_rate - previous_pass_rate AS difference
    FROM scores.task_changes
    WHERE change IS NOT NULL
),

-- Of task sets with tasks that depend on each other.
clustered AS (
    SELECT
        entry,
        list(difference ORDER BY unit) AS sums,
        list(n_tasks ORDER BY unit) AS sizes
    FROM (
        SELECT
            steps.entry,
            coalesce(clusters.cluster, steps.task) AS unit,
            list_aggregate(list(steps.difference ORDER BY steps.task), 'fsum') AS difference,
            count(*) AS n_tasks
        FROM steps
        JOIN (SELECT DISTINCT entry, suite, task_set FROM scores.series_runs) AS runs
            ON steps.entry = runs.entry
        SEMI JOIN (FROM scores.task_clusters WHERE NOT is_copy) AS sets
            ON runs.suite = sets.suite
            AND runs.task_set = sets.task_set
        LEFT JOIN scores.task_clusters AS clusters ON steps.task = clusters.task
        GROUP BY ALL
    ) AS units
    GROUP BY entry
    HAVING count(*) < sum(n_tasks)
),

changes AS (
    SELECT
        any_value(subject) AS subject,
        entry,
        count(*) AS n_compared,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost,
        count(*) FILTER (change = 'same' AND pass_rate > 0) AS n_kept,
        bool_and(is_pass_or_fail) AS is_pass_or_fail,
        list_sort(list(difference)) AS differences,
        ordered_mean(differences) AS change
    FROM steps
    GROUP BY entry
)

SELECT
    changes.subject,
    changes.entry,
    changes.n_compared,
    changes.n_gained,
    changes.n_lost,
    changes.n_kept,
    changes.is_pass_or_fail,
    changes.change,
    len(clustered.sizes) AS n_units,
    coalesce(cluster_df(clustered.sizes), greatest(n_compared - 1, 1)) AS df,
    change_error(differences, change, clustered.sums, clustered.sizes) AS standard_error
FROM changes
LEFT JOIN clustered ON changes.entry = clustered.entry
