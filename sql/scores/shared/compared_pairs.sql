-- Two models on the tasks that both were scored on, by each metric; see latest_scores. The unit is the
-- task. Pass or fail with one attempt each is judged by McNemar's exact test, anything else by a paired
-- t test over the tasks.
-- grain: suite × task set × scorer × metric × filter × pair of models, a before b
-- inherits: score_comparisons
-- task_set: NULL by the verdict (`passed` without a scorer), which is compared over all task sets of the suite
-- n_both: tasks on which both have the same score, above 0
-- n_neither: tasks on which both have the score 0
WITH sides AS (
    SELECT
        suite,
        task_set,
        task_id,
        metric = 'passed' AND latest.scorer IS NULL AND latest.filter IS NULL AS is_verdict,
        CASE WHEN NOT is_verdict THEN task_set END AS scope,
        provider,
        model,
        settings,
        -- An unknown provider differs from an empty one.
        concat_ws(chr(31), coalesce(provider, chr(30)), model, settings) AS side,
        coalesce(scorer, chr(30)) AS scorer,
        metric,
        coalesce(filter, chr(30)) AS filter,
        run_id,
        position,
        n_scored,
        score,
        -- Scores that all happen to be 0 can be of any scale.
        is_verdict OR (
            bool_and(is_binary) OVER by_metric AND max(score) OVER by_metric = 1
        ) AS is_binary,
        CASE
            WHEN metric IN ('app_quality', 'app_core') AND suite = 'posters' THEN 100
            WHEN bool_and(is_share) OVER by_metric THEN 1
        END AS scale,
        max(n_scored) OVER (
            PARTITION BY suite, scope, latest.scorer, metric, latest.filter, side
        ) AS most_attempts
    FROM scores.latest_scores AS latest
    WINDOW by_metric AS (PARTITION BY suite, scope, latest.scorer, metric, latest.filter)
),

pairs AS (
    SELECT
        a.suite,
        a.scope,
        a.scorer,
        a.metric,
        a.filter,
        a.provider AS provider_a,
        a.model AS model_a,
        a.settings AS settings_a,
        b.provider AS provider_b,
        b.model AS model_b,
        b.settings AS settings_b,
        a.scale,
        a.is_binary AND a.most_attempts = 1 AND b.most_attempts = 1 AS is_pass_or_fail,
        arg_max(a.run_id, a.position) AS run_a,
        arg_max(b.run_id, b.position) AS run_b,
        count(*) AS n_tasks,
        CAST(sum(a.n_scored) AS BIGINT) AS n_attempts_a,
        CAST(sum(b.n_scored) AS BIGINT) AS n_attempts_b,
        count(*) FILTER (a.score = b.score AND a.score <> 0) AS n_both,
        count(*) FILTER (a.score > b.score) AS n_better_a,
        count(*) FILTER (a.score < b.score) AS n_better_b,
        count(*) FILTER (a.score = 0 AND b.score = 0) AS n_neither,
        exact_mean(a.score) AS mean_a,
        exact_mean(b.score) AS mean_b,
        -- DuckDB 1.5 does not know `is_pass_or_fail` here.
        list_sort(list(a.score - b.score) FILTER (
            NOT (a.is_binary AND a.most_attempts = 1 AND b.most_attempts = 1)
        )) AS differences
    FROM sides AS a
    JOIN sides AS b
        ON a.suite = b.suite
        AND a.task_set = b.task_set
        AND a.task_id = b.task_id
        AND a.scorer = b.scorer
        AND a.metric = b.metric
        AND a.filter = b.filter
        AND a.side < b.side
    GROUP BY ALL
),

spread AS (
    SELECT
        *,
        CASE
            WHEN is_pass_or_fail THEN (n_better_a - n_better_b) / n_tasks
            ELSE ordered_mean(differences)
        END AS mean_difference,
        nullif(sqrt(ordered_sum(list_transform(
            differences, lambda d: (d - mean_difference) ** 2
        )) / nullif(n_tasks - 1, 0) / n_tasks), 0) AS standard_error
    FROM pairs
),

tested AS (
    SELECT
        *,
        CASE
            WHEN is_pass_or_fail THEN mcnemar_p(n_better_a, n_better_b)
            ELSE student_p(mean_difference / standard_error, greatest(n_tasks - 1, 1))
        END AS p_value,
        CASE
            WHEN is_pass_or_fail
                THEN newcombe_interval(n_both, n_better_a, n_better_b, n_neither)
            WHEN p_value IS NOT NULL THEN [
                greatest(-scale, mean_difference - student_quantile(n_tasks - 1) * standard_error),
                least(scale, mean_difference + student_quantile(n_tasks - 1) * standard_error)
            ]
        END AS ends
    FROM spread
),

ranked AS (
    SELECT
        *,
        row_number() OVER pairs_of_set AS place,
        count(p_value) OVER (PARTITION BY suite, scope, scorer, metric, filter) AS n_pairs
    FROM tested
    WINDOW pairs_of_set AS (
        PARTITION BY suite, scope, scorer, metric, filter
        ORDER BY
            p_value NULLS LAST, model_a, settings_a, model_b, settings_b, provider_a, provider_b
    )
)

SELECT
    suite,
    scope AS task_set,
    nullif(scorer, chr(30)) AS scorer,
    metric,
    nullif(filter, chr(30)) AS filter,
    provider_a,
    model_a,
    settings_a,
    run_a,
    provider_b,
    model_b,
    settings_b,
    run_b,
    n_tasks,
    n_attempts_a,
    n_attempts_b,
    n_both,
    n_better_a,
    n_better_b,
    n_neither,
    mean_a,
    mean_b,
    mean_difference,
    ends[1] AS difference_low,
    ends[2] AS difference_high,
    CASE WHEN p_value IS NOT NULL THEN if(is_pass_or_fail, 'mcnemar', 'paired_t') END AS test,
    p_value,
    CASE
        WHEN p_value IS NOT NULL
            THEN least(1.0, max((n_pairs - place + 1) * p_value) OVER (
                PARTITION BY suite, scope, scorer, metric, filter ORDER BY place
            ))
    END AS p_holm
FROM ranked
