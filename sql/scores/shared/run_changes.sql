-- What each run passed more and less often, or scored higher and lower, than the model's previous run of each
-- task, by the metrics of the leaderboard: what the tests of `model_history` need.
-- board
-- grain: run × provider × model × settings × task set × scorer × metric × filter, with a task that an earlier
--     run has, too
-- inherits: model_history, scores.series_runs
-- metric: `passed` without a scorer and a filter is the verdict
-- n_kept: tasks that passed as often as before, and did pass; 0 of scores
-- is_pass_or_fail: whether each task was judged once in both runs
-- n_units: clusters of the tasks; NULL where no two of them are known to depend on each other
-- df: degrees of freedom of Student's test
-- standard_error: standard error of the change; NULL where all tasks, or clusters, changed alike
WITH runs AS (
    SELECT DISTINCT entry, subject, suite, task_set
    FROM scores.series_runs
),

steps AS (
    SELECT
        entry,
        NULL AS scorer,
        'passed' AS metric,
        NULL AS filter,
        task,
        change,
        change = 'same' AND pass_rate > 0 AS is_kept,
        n_judged = 1 AND previous_n_judged = 1 AS is_pass_or_fail,
        pass_rate - previous_pass_rate AS difference
    FROM scores.task_changes
    WHERE change IS NOT NULL
    UNION ALL
    SELECT
        entry,
        scorer,
        metric,
        filter,
        task,
        change,
        false AS is_kept,
        false AS is_pass_or_fail,
        score - previous_score AS difference
    FROM scores.score_changes
    WHERE change IS NOT NULL
),

-- Of task sets with tasks that depend on each other.
clustered AS (
    SELECT
        entry,
        scorer,
        metric,
        filter,
        list(difference ORDER BY unit) AS sums,
        list(n_tasks ORDER BY unit) AS sizes
    FROM (
        SELECT
            steps.entry,
            steps.scorer,
            steps.metric,
            steps.filter,
            coalesce(clusters.cluster, steps.task) AS unit,
            list_aggregate(list(steps.difference ORDER BY steps.task), 'fsum') AS difference,
            count(*) AS n_tasks
        FROM steps
        JOIN runs ON steps.entry = runs.entry
        SEMI JOIN (FROM scores.task_clusters WHERE NOT is_copy) AS sets
            ON runs.suite = sets.suite
            AND runs.task_set = sets.task_set
        LEFT JOIN scores.task_clusters AS clusters ON steps.task = clusters.task
        GROUP BY ALL
    ) AS units
    GROUP BY entry, scorer, metric, filter
    HAVING count(*) < sum(n_tasks)
),

changes AS (
    SELECT
        entry,
        scorer,
        metric,
        filter,
        count(*) AS n_compared,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost,
        count(*) FILTER (is_kept) AS n_kept,
        bool_and(is_pass_or_fail) AS is_pass_or_fail,
        list_sort(list(difference)) AS differences,
        ordered_mean(differences) AS change
    FROM steps
    GROUP BY entry, scorer, metric, filter
)

SELECT
    runs.subject,
    changes.entry,
    changes.scorer,
    changes.metric,
    changes.filter,
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
JOIN runs ON changes.entry = runs.entry
LEFT JOIN clustered
    ON changes.entry = clustered.entry
    AND changes.scorer IS NOT DISTINCT FROM clustered.scorer
    AND changes.metric = clustered.metric
    AND changes.filter IS NOT DISTINCT FROM clustered.filter
