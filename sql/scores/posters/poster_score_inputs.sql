-- The inputs of poster scores; a missing prediction is scored too.
-- grain: posters run × model × poster that has ground truth and is not excluded
-- inherits: scores.poster_ground_truth, scores.poster_predictions
-- label: gold or silver: label of the poster's ground truth
WITH models AS (
    SELECT run_id, unnest(models) AS model
    FROM scores.poster_run_setups
)

SELECT
    posters.suite,
    posters.run_id,
    models.model,
    posters.task_id,
    posters.seq,
    posters.label,
    posters.gold,
    predictions.prediction,
    coalesce(predictions.output_state, 'missing') AS output_state
FROM scores.poster_ground_truth AS posters
JOIN models ON posters.run_id = models.run_id
LEFT JOIN scores.poster_predictions AS predictions
    ON posters.run_id = predictions.run_id
    AND models.model = predictions.model
    AND posters.task_id = predictions.task_id
WHERE posters.status = 'ok' AND posters.exclusion IS NULL AND posters.gold IS NOT NULL
