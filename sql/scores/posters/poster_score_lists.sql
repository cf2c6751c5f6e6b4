-- The scores of each model as lists, in the order of the manifest.
-- grain: posters run × model × part
-- quality: app quality of each poster
-- core: app core of each poster
WITH mixed AS (
    SELECT run_id
    FROM scores.poster_prediction_scores
    GROUP BY run_id
    HAVING count(DISTINCT label) > 1
),

parts AS (
    SELECT *, 'all' AS part
    FROM scores.poster_prediction_scores
    UNION ALL
    SELECT *, label AS part
    FROM scores.poster_prediction_scores
    SEMI JOIN mixed USING (run_id)
    WHERE label IS NOT NULL
)

SELECT
    suite,
    run_id,
    model,
    part,
    list(app_quality ORDER BY seq, task_id) AS quality,
    list(app_core ORDER BY seq, task_id) AS core
FROM parts
GROUP BY suite, run_id, model, part
