-- Every two models of a poster run compared, on app quality and app core.
-- grain: run × part × metric × pair of models
-- first: model_a, model_b, metric, part, diff_mean, paired_p_value, holm_p_value, n_posters
-- inherits: scores.all_poster_comparisons
SELECT figures.*
FROM scores.all_poster_comparisons AS figures
ANTI JOIN scores.replayed_models AS replays
    ON figures.suite = replays.suite
    AND figures.run_id = replays.run_id
    AND (figures.model_a = replays.model OR figures.model_b = replays.model)
ORDER BY run_id, part, metric DESC, model_a, model_b
