-- The inputs of poster_pair_tests: the score lists of all models of a run, models sorted by name.
-- grain: posters run × part × metric
-- models: names of the models
-- scores: list of scores of each model, in the order of the manifest
WITH metrics AS (
    SELECT suite, run_id, part, 'app_quality' AS metric, model, quality AS scores
    FROM scores.poster_score_lists
    UNION ALL
    SELECT suite, run_id, part, 'app_core' AS metric, model, core AS scores
    FROM scores.poster_score_lists
)

SELECT
    suite,
    run_id,
    part,
    metric,
    list(model ORDER BY model) AS models,
    list(scores ORDER BY model) AS scores
FROM metrics
GROUP BY suite, run_id, part, metric
HAVING count(*) > 1
