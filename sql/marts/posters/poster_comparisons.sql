-- Every two models of a poster run compared, on app quality and app core.
-- grain: run × part × metric × pair of models
-- first: model_a, model_b, metric, part, diff_mean, paired_p_value, holm_p_value, n_posters
-- inherits: scores.all_poster_comparisons
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'posters'
)

SELECT
    suite,
    run_id,
    part,
    metric,
    model_a,
    model_b,
    n_posters,
    diff_mean,
    low,
    high,
    p_value,
    is_significant,
    paired_low,
    paired_high,
    paired_p_value,
    holm_p_value,
    is_holm_significant,
    mean_difference,
    low_unrounded,
    high_unrounded,
    paired_low_unrounded,
    paired_high_unrounded,
    paired_p_value_unrounded,
    holm_p_value_unrounded
FROM scores.all_poster_comparisons AS figures
ANTI JOIN replays
    ON figures.run_id = replays.run_id
    AND (figures.model_a = replays.model OR figures.model_b = replays.model)
ORDER BY run_id, part, metric DESC, model_a, model_b
