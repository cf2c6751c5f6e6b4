-- The mean of each recorded headline metric for each model in each run: the figures of metrics by the
-- reducer mean, without those of the verdict. The leaderboard and the history need no others, and in a
-- long history these are the fewest.
-- grain: run × provider × model × settings × task set × scorer × metric × filter
-- inherits: metrics, scores.recorded_attempts
WITH tasks AS (
    SELECT
        entry,
        scorer,
        metric,
        filter,
        task_id,
        listed,
        ordered_mean(listed) AS score
    FROM scores.recorded_attempts
    WHERE is_headline(suite, metric)
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
        bool_and(len(list_filter(listed, lambda value: value NOT BETWEEN 0 AND 1)) = 0) AS is_share,
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
            WHEN is_share THEN effective_tasks(
                n_tasks,
                if(is_binary, n_results, 'inf'::DOUBLE),
                mean * n_tasks,
                list_aggregate(list_transform(in_order, lambda score: score ** 2), 'fsum')
            )
        END AS n_effective,
        student_quantile(n_tasks - 1) * sqrt(variance / n_tasks) AS margin
    FROM averaged
)

SELECT
    entry,
    scorer,
    metric,
    filter,
    n_tasks,
    mean,
    if(is_share, wilson_low(mean * n_effective, n_effective), mean - margin) AS mean_low,
    if(is_share, wilson_high(mean * n_effective, n_effective), mean + margin) AS mean_high
FROM spread
