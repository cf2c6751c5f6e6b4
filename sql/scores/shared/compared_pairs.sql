-- Two models on the tasks that both were scored on, by each metric, with the test of `evalstore compare`;
-- those of more than 100 models have none.
-- grain: suite × task set × scorer × metric × filter × pair of models, a before b
-- inherits: scores.tested_pairs
FROM scores.tested_pairs
UNION ALL BY NAME
SELECT * EXCLUDE (
    n_models,
    has_interval,
    series_a,
    series_b,
    scale,
    differences,
    sizes,
    test_key,
    bounded_tasks,
    bounded_better_a,
    bounded_better_b,
    bounded_differences,
    bounded_units,
    bounded_sizes,
    bounded_test,
    bounded_key,
    is_lead_kept
)
FROM scores.pair_counts
WHERE n_models > 100
