-- Every two models of a poster run compared, on app quality and app core; of replayed runs too.
-- grain: run × part × metric × pair of models
-- inherits: scores.poster_pair_tests
-- diff_mean: mean_difference, rounded to 3 places
-- low: lower end of the 95 % interval by the original's unpaired bootstrap, rounded to 3 places; this,
--     all other ends of intervals and all p-values are NULL for a single poster
-- high: upper end of the 95 % interval by the original's unpaired bootstrap, rounded to 3 places
-- p_value: p-value by the original's unpaired bootstrap, rounded to 4 places; it can be 0
-- paired_low: lower end of the 95 % interval by the paired bootstrap, rounded to 3 places
-- paired_high: upper end of the 95 % interval by the paired bootstrap, rounded to 3 places
-- paired_p_value: p-value by the paired bootstrap, rounded to 4 places
-- holm_p_value: paired_p_value adjusted for all pairs of the run, rounded to 4 places
-- low_unrounded: low, unrounded
-- high_unrounded: high, unrounded
-- paired_low_unrounded: paired_low, unrounded
-- paired_high_unrounded: paired_high, unrounded
-- paired_p_value_unrounded: paired_p_value, unrounded
-- holm_p_value_unrounded: holm_p_value, unrounded
-- is_holm_significant: whether the unrounded holm_p_value is below 0.05
SELECT
    suite,
    run_id,
    part,
    metric,
    model_a,
    model_b,
    n_posters,
    rounded(mean_difference, 3) AS diff_mean,
    rounded(low, 3) AS low,
    rounded(high, 3) AS high,
    rounded(p_value, 4) AS p_value,
    is_significant,
    rounded(paired_low, 3) AS paired_low,
    rounded(paired_high, 3) AS paired_high,
    rounded(paired_p_value, 4) AS paired_p_value,
    rounded(holm_p_value, 4) AS holm_p_value,
    holm_p_value < 0.05 AS is_holm_significant,
    mean_difference,
    low AS low_unrounded,
    high AS high_unrounded,
    paired_low AS paired_low_unrounded,
    paired_high AS paired_high_unrounded,
    paired_p_value AS paired_p_value_unrounded,
    holm_p_value AS holm_p_value_unrounded
FROM scores.poster_pair_tests
ORDER BY run_id, part, metric DESC, model_a, model_b
