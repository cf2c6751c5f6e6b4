-- Every two models of a poster run compared, on app quality and app core.
-- grain: run × part × metric × pair of models
-- inherits: scores.poster_pair_tests
-- diff_mean: mean_difference, rounded to 3 places
-- low: lower end of the 95 % interval by the original's unpaired bootstrap, rounded to 3 places
-- high: upper end of the 95 % interval by the original's unpaired bootstrap, rounded to 3 places
-- p_value: p-value by the original's unpaired bootstrap, rounded to 4 places; it can be 0
-- low_unrounded: low, unrounded
-- high_unrounded: high, unrounded
-- is_holm_significant: whether holm_p_value is below 0.05
SELECT
    suite,
    run_id,
    part,
    metric,
    model_a,
    model_b,
    rounded(mean_difference, 3) AS diff_mean,
    rounded(low, 3) AS low,
    rounded(high, 3) AS high,
    rounded(p_value, 4) AS p_value,
    is_significant,
    mean_difference,
    low AS low_unrounded,
    high AS high_unrounded,
    paired_low,
    paired_high,
    paired_p_value,
    holm_p_value,
    holm_p_value < 0.05 AS is_holm_significant
FROM scores.poster_pair_tests
ORDER BY run_id, part, metric DESC, model_a, model_b
