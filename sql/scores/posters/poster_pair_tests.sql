-- Every two models of a run compared: unpaired as the original program does, and paired.
-- grain: posters run × part × metric × pair of models
-- materialised
-- suite: posters
-- key: suite, run_id, part, metric
-- inputs: poster_model_lists
WITH pairs AS (
    SELECT
        suite,
        run_id,
        part,
        metric,
        models,
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
