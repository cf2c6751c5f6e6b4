-- Every two models of a poster run compared, on app quality and app core.
-- grain: run × part × metric × pair of models
-- part: all posters; where the ground truth is mixed, also those of each label
-- diff_mean: mean of model_a less mean of model_b, in points, 0 to 100
-- low, high, p_value, is_significant: the original's unpaired bootstrap; p_value can be 0
-- paired_low, paired_high, paired_p_value: bootstrap over the posters that both scored
-- holm_p_value: paired_p_value adjusted for the number of pairs in the run
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
