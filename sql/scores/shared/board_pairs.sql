-- The pairs of models that sync keeps: of each metric that up to 100 models of a task set have.
-- board
-- grain: suite × task set × scorer × metric × filter × pair of models, a before b
-- inherits: score_comparisons, scores.pair_counts
SELECT * EXCLUDE (
    scale,
    differences,
    sizes,
    bounded_differences,
    bounded_units,
    bounded_sizes,
    bounded_test
)
FROM scores.pair_counts
WHERE n_models <= 100
