-- The pairs of models that sync keeps, with the test of `evalstore compare`: see scores.pair_counts.
-- grain: suite × task set × scorer × metric × filter × pair of models, a before b
-- inherits: score_comparisons, scores.pair_counts
-- p_missing: p-value with every missing verdict counted against the model that is ahead, 1 if it then is
--     not; NULL where none is missing
-- p_held: the larger of p_value and p_missing: what holds whatever the missing verdicts are
WITH tested AS (
    SELECT
        pairs.*,
        tests.p_value,
        if(pairs.is_lead_kept, bounded.p_value, if(pairs.is_lead_kept IS NULL, NULL, 1)) AS p_missing,
        greatest(tests.p_value, p_missing) AS p_held,
        -- A test may have been computed with its interval for a smaller board.
        if(pairs.has_interval, tests.low, NULL) AS difference_low,
        if(pairs.has_interval, tests.high, NULL) AS difference_high,
        -- No data of fewer tasks, or clusters of them, could be significant (Tarone 1990,
        -- Biometrics 46, 515).
        coalesce(pairs.n_clusters, pairs.n_tasks) >= 6 AND tests.p_value IS NOT NULL AS is_adjusted
    FROM scores.board_pairs AS pairs
    LEFT JOIN scores.pair_tests AS tests ON pairs.test_key = tests.test_key
    LEFT JOIN scores.pair_tests AS bounded ON pairs.bounded_key = bounded.test_key
),

ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite, task_set, scorer, metric, filter, is_adjusted
            ORDER BY
                p_held, model_a, settings_a, model_b, settings_b, provider_a, provider_b
        ) AS place,
        count(*) OVER (
            PARTITION BY suite, task_set, scorer, metric, filter, is_adjusted
        ) AS n_pairs
    FROM tested
)

SELECT
    suite,
    task_set,
    scorer,
    metric,
    filter,
    provider_a,
    model_a,
    settings_a,
    run_a,
    provider_b,
    model_b,
    settings_b,
    run_b,
    n_tasks,
    n_clusters,
    n_differing,
    n_attempts_a,
    n_attempts_b,
    n_both,
    n_better_a,
    n_better_b,
    n_neither,
    mean_a,
    mean_b,
    mean_difference,
    difference_low,
    difference_high,
    test,
    p_value,
    p_missing,
    p_held,
    CASE
        WHEN is_adjusted
            THEN least(1.0, max((n_pairs - place + 1) * p_held) OVER (
                PARTITION BY suite, task_set, scorer, metric, filter, is_adjusted ORDER BY place
            ))
    END AS p_holm
FROM ranked
