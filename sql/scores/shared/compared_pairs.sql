-- Two models on the tasks that both were scored on, by each metric; see board_scores. The unit is the
-- task. Pass or fail with one attempt each is judged by McNemar's exact test, anything else by a paired
-- t test over the tasks.
-- grain: suite × task set × scorer × metric × filter × pair of models, a before b
-- inherits: score_comparisons
-- task_set: NULL by the verdict (`passed` without a scorer), which is compared over all task sets of the suite
-- n_both: tasks on which both have the same score, above 0
-- n_neither: tasks on which both have the score 0
WITH scored AS (
    SELECT
        suite,
        task,
        metric = 'passed' AND latest.scorer IS NULL AND latest.filter IS NULL AS is_verdict,
        CASE WHEN NOT is_verdict THEN task_set END AS scope,
        provider,
        model,
        settings,
        scorer,
        metric,
        filter,
        run_id,
        position,
        n_scored,
        score,
        is_binary,
        is_share,
        series,
        hash(suite, scope, latest.scorer, metric, latest.filter) AS contest
    FROM scores.board_scores AS latest
),

contests AS (
    SELECT
        contest,
        any_value(suite) AS suite,
        any_value(scope) AS scope,
        any_value(scorer) AS scorer,
        any_value(metric) AS metric,
        any_value(filter) AS filter,
        -- Scores that all happen to be 0 can be of any scale.
        any_value(is_verdict) OR (bool_and(is_binary) AND max(score) = 1) AS is_binary,
        CASE
            WHEN any_value(metric) IN ('app_quality', 'app_core') AND any_value(suite) = 'posters'
                THEN 100
            WHEN bool_and(is_share) THEN 1
        END AS scale
    FROM scored
    GROUP BY contest
),

-- The models of each contest, numbered in the order of their names.
models AS (
    SELECT
        contest,
        series,
        any_value(provider) AS provider,
        any_value(model) AS model,
        any_value(settings) AS settings,
        max(n_scored) AS most_attempts,
        row_number() OVER (
            PARTITION BY contest
            -- An unknown provider differs from an empty one.
            ORDER BY concat_ws(
                chr(31),
                coalesce(any_value(provider), chr(30)),
                any_value(model),
                any_value(settings)
            )
        ) AS place
    FROM scored
    GROUP BY contest, series
),

sides AS (
    SELECT
        scored.contest,
        models.place,
        scored.task,
        scored.run_id,
        scored.position,
        scored.n_scored,
        scored.score,
        -- The parts that exact_mean adds.
        try_cast(floor(scored.score) AS DECIMAL(15, 0)) AS whole,
        CAST(scored.score - whole AS DECIMAL(16, 15)) AS fraction,
        contests.is_binary AND models.most_attempts = 1 AS is_single
    FROM scored
    JOIN contests ON scored.contest = contests.contest
    JOIN models
        ON scored.contest = models.contest
        AND scored.series = models.series
),

compared AS (
    SELECT
        a.contest,
        a.place AS place_a,
        b.place AS place_b,
        bool_and(a.is_single AND b.is_single) AS is_pass_or_fail,
        arg_max(a.run_id, a.position) AS run_a,
        arg_max(b.run_id, b.position) AS run_b,
        count(*) AS n_tasks,
        CAST(sum(a.n_scored) AS BIGINT) AS n_attempts_a,
        CAST(sum(b.n_scored) AS BIGINT) AS n_attempts_b,
        count(*) FILTER (a.score = b.score AND a.score <> 0) AS n_both,
        count(*) FILTER (a.score > b.score) AS n_better_a,
        count(*) FILTER (a.score < b.score) AS n_better_b,
        count(*) FILTER (a.score = 0 AND b.score = 0) AS n_neither,
        exact_total(sum(a.whole), sum(a.fraction)) / nullif(count(a.whole), 0) AS mean_a,
        exact_total(sum(b.whole), sum(b.fraction)) / nullif(count(b.whole), 0) AS mean_b,
        list_sort(list(a.score - b.score) FILTER (NOT (a.is_single AND b.is_single)))
            AS differences
    FROM sides AS a
    JOIN sides AS b
        ON a.contest = b.contest
        AND a.task = b.task
        AND a.place < b.place
    GROUP BY a.contest, a.place, b.place
),

pairs AS (
    SELECT
        contests.suite,
        contests.scope,
        coalesce(contests.scorer, chr(30)) AS scorer,
        contests.metric,
        coalesce(contests.filter, chr(30)) AS filter,
        a.provider AS provider_a,
        a.model AS model_a,
        a.settings AS settings_a,
        b.provider AS provider_b,
        b.model AS model_b,
        b.settings AS settings_b,
        contests.scale,
        compared.* EXCLUDE (contest, place_a, place_b)
    FROM compared
    JOIN contests ON compared.contest = contests.contest
    JOIN models AS a
        ON compared.contest = a.contest
        AND compared.place_a = a.place
    JOIN models AS b
        ON compared.contest = b.contest
        AND compared.place_b = b.place
),

averaged AS (
    SELECT
        *,
        CASE
            WHEN is_pass_or_fail THEN (n_better_a - n_better_b) / n_tasks
            ELSE ordered_mean(differences)
        END AS mean_difference
    FROM pairs
),

-- A mean of the same SELECT would be computed again for each difference.
spread AS (
    SELECT
        *,
        nullif(sqrt(ordered_sum(list_transform(
            differences, lambda d: (d - mean_difference) ** 2
        )) / nullif(n_tasks - 1, 0) / n_tasks), 0) AS standard_error
    FROM averaged
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
