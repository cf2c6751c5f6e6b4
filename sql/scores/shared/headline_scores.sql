-- The mean of each recorded headline metric for each model in each run: the figures of metrics by the
-- reducer mean, without those of the verdict. The leaderboard and the history need no others.
-- grain: run × provider × model × settings × task set × scorer × metric × filter
-- inherits: metrics, scores.run_metrics
-- is_corrected: whether it is a judge's figure corrected by labels, or one by votes; see docs/judges.md
SELECT
    entry,
    scorer,
    metric,
    filter,
    n_tasks,
    mean,
    n_clusters,
    mean_low,
    mean_high,
    NULL AS remark,
    false AS is_corrected
FROM scores.run_metrics
LEFT JOIN suite_traits AS traits USING (suite)
WHERE
    reducer = 'mean'
    AND NOT is_verdict
    AND is_headline(metric, traits.headline_metrics, traits.minor_metrics)
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
    remark,
    true AS is_corrected
FROM scores.corrected_means
LEFT JOIN suite_traits AS traits USING (suite)
WHERE is_headline(metric, traits.headline_metrics, traits.minor_metrics)
