-- Every two models of a run compared: unpaired as in the original program, and paired.
-- grain: posters run × part × metric × pair of models
-- materialised
-- suite: posters
-- key: suite, run_id, part, metric
-- inputs: poster_model_lists
-- n_posters: posters that both models are scored on
-- mean_difference: mean of the first model minus mean of the second, in points (0 to 100)
-- low: lower end of the 95 % interval by the original's unpaired bootstrap; this, all other ends of
--     intervals and all p-values are NULL for a single poster
-- high: upper end of the 95 % interval by the original's unpaired bootstrap
-- p_value: p-value by the original's unpaired bootstrap; it can be 0
-- is_significant: whether the interval from low to high excludes 0
-- paired_low: lower end of the 95 % interval by a bootstrap over the posters that both scored
-- paired_high: upper end of the 95 % interval by a bootstrap over the posters that both scored
-- paired_p_value: p-value by the paired bootstrap
-- holm_p_value: paired_p_value adjusted for all pairs of the run
-- is_paired_significant: whether the interval from paired_low to paired_high excludes 0
WITH pairs AS (
    SELECT
        suite,
        run_id,
        part,
        metric,
        models,
        len(scores[1]) AS n_posters,
        unnest(bootstrap_pairs(scores)) AS pair
    FROM inputs
)

SELECT
    suite,
    run_id,
    part,
    metric,
    models[pair.a] AS model_a,
    models[pair.b] AS model_b,
    n_posters,
    pair.mean AS mean_difference,
    pair.low AS low,
    pair.high AS high,
    pair.p_value AS p_value,
    pair.significant AS is_significant,
    pair.paired_low AS paired_low,
    pair.paired_high AS paired_high,
    pair.paired_p_value AS paired_p_value,
    pair.holm_p_value AS holm_p_value,
    pair.paired_significant AS is_paired_significant
FROM pairs
