-- Two models on the tasks that both were scored on, by each metric, with the test of `evalstore compare`:
-- see scores.pair_counts.
-- grain: suite × task set × scorer × metric × filter × pair of models, a before b
-- inherits: score_comparisons, scores.pair_counts
WITH tested AS (
    SELECT
        pairs.* EXCLUDE (differences, test_key, scale, n_models),
        tests.p_value,
        tests.low AS difference_low,
        tests.high AS difference_high,
        -- No data of fewer tasks could be significant (Tarone 1990, Biometrics 46, 515).
        pairs.n_tasks >= 6 AND tests.p_value IS NOT NULL AS is_adjusted
    FROM scores.pair_counts AS pairs
    LEFT JOIN scores.pair_tests AS tests ON pairs.test_key = tests.test_key
),

ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite, task_set, scorer, metric, filter, is_adjusted
            ORDER BY
                p_value, model_a, settings_a, model_b, settings_b, provider_a, provider_b
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
    CASE
        WHEN is_adjusted
            THEN least(1.0, max((n_pairs - place + 1) * p_value) OVER (
                PARTITION BY suite, task_set, scorer, metric, filter, is_adjusted ORDER BY place
            ))
    END AS p_holm
FROM ranked
