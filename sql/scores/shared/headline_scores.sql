-- The mean of each recorded headline metric for each model in each run: the figures of metrics by the
-- reducer mean, without those of the verdict. The leaderboard and the history need no others, and in a
-- long history these are the fewest.
-- grain: run × provider × model × settings × task set × scorer × metric × filter
-- inherits: metrics, scores.recorded_attempts
-- n_clusters: clusters of these tasks; NULL where no two of them are known to depend on each other
WITH tasks AS (
    SELECT
        entry,
        scorer,
        metric,
        filter,
        task_id,
        task,
        listed,
        ordered_mean(listed) AS score,
        if(list_contains(traits.percent_metrics, metric), 100, 1) AS scale
    FROM scores.recorded_attempts
    LEFT JOIN suite_traits AS traits USING (suite)
    WHERE is_headline(metric, traits.headline_metrics, traits.minor_metrics)
),

-- Of task sets with tasks that depend on each other.
clustered AS (
    SELECT
        entry,
        scorer,
        metric,
        filter,
        list(score ORDER BY unit) AS sums,
        list(n_tasks ORDER BY unit) AS sizes
    FROM (
        SELECT
            tasks.entry,
            tasks.scorer,
            tasks.metric,
            tasks.filter,
            coalesce(clusters.cluster, tasks.task) AS unit,
            list_aggregate(list(tasks.score ORDER BY tasks.task_id), 'fsum') AS score,
            count(*) AS n_tasks
        FROM tasks
        JOIN scores.entries AS entries ON tasks.entry = entries.entry
        SEMI JOIN (FROM scores.task_clusters WHERE NOT is_copy) AS sets
            ON entries.suite = sets.suite
            AND entries.task_set = sets.task_set
        LEFT JOIN scores.task_clusters AS clusters ON tasks.task = clusters.task
        WHERE tasks.score IS NOT NULL
        GROUP BY ALL
    ) AS units
    GROUP BY entry, scorer, metric, filter
    HAVING count(*) < sum(n_tasks)
),

-- A sum of floating-point numbers depends on their order.
figures AS (
    SELECT
        entry,
        scorer,
        metric,
        filter,
        CAST(sum(len(listed)) AS BIGINT) AS n_results,
        count(score) AS n_tasks,
        bool_and(len(list_filter(listed, lambda value: value NOT IN (0, 1))) = 0) AS is_binary,
        CASE
            WHEN bool_and(len(list_filter(listed, lambda value: value NOT BETWEEN 0 AND scale)) = 0)
                THEN any_value(scale)
        END AS scale,
        list(score ORDER BY task_id) AS in_order
    FROM tasks
    GROUP BY entry, scorer, metric, filter
),

averaged AS (
    SELECT
        *,
        list_aggregate(in_order, 'fsum') / nullif(n_tasks, 0) AS mean
    FROM figures
),

spread AS (
    SELECT
        *,
        list_aggregate(list_transform(in_order, lambda score: (score - mean) ** 2), 'fsum')
            / nullif(n_tasks - 1, 0) AS variance,
        CASE
            WHEN scale IS NOT NULL THEN effective_tasks(
                n_tasks,
                if(is_binary, n_results, 'inf'::DOUBLE),
                mean / scale * n_tasks,
                list_aggregate(list_transform(in_order, lambda score: (score / scale) ** 2), 'fsum')
            )
        END AS n_effective,
        student_quantile(n_tasks - 1) * sqrt(variance / n_tasks) AS margin
    FROM averaged
),

ended AS (
    SELECT
        spread.*,
        clustered.sizes,
        mean_interval(scale, mean, n_effective, margin, sums, sizes) AS ends
    FROM spread
    LEFT JOIN clustered
        ON spread.entry = clustered.entry
        AND spread.scorer IS NOT DISTINCT FROM clustered.scorer
        AND spread.metric = clustered.metric
        AND spread.filter IS NOT DISTINCT FROM clustered.filter
)

SELECT
    entry,
    scorer,
    metric,
    filter,
    n_tasks,
    mean,
    len(sizes) AS n_clusters,
    ends[1] AS mean_low,
    ends[2] AS mean_high,
    NULL AS remark
FROM ended
UNION ALL
SELECT
    entry,
    scorer,
    metric || ' (corrected)' AS metric,
    NULL AS filter,
    if(mean IS NULL, 0, n_tasks) AS n_tasks,
    mean,
    NULL AS n_clusters,
    mean_low,
    mean_high,
    remark
FROM scores.corrected_means
LEFT JOIN suite_traits AS traits USING (suite)
WHERE is_headline(metric, traits.headline_metrics, traits.minor_metrics)
