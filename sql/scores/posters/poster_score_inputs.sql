-- The inputs of poster scores; a missing prediction is scored too.
-- grain: posters run × model × poster that has ground truth and is not excluded
-- inherits: scores.poster_ground_truth, scores.poster_predictions
-- label: gold or silver: label of the poster's ground truth
-- silver: text of the newest record of a model, where the ground truth is gold; NULL without one
WITH models AS (
    SELECT run_id, unnest(models) AS model
    FROM scores.poster_run_setups
),

records_of_models AS (
    SELECT task_set, task_id, gold AS silver
    FROM scores.poster_record_versions
    WHERE precedence = 3
    QUALIFY row_number() OVER (
        PARTITION BY task_set, task_id ORDER BY batch DESC, content_id
    ) = 1
)

SELECT
    posters.suite,
    posters.run_id,
    models.model,
    posters.task_id,
    posters.seq,
    posters.label,
    posters.gold,
    CASE WHEN posters.label = 'gold' THEN records_of_models.silver END AS silver,
    predictions.prediction,
    coalesce(predictions.output_state, 'missing') AS output_state
FROM scores.poster_ground_truth AS posters
JOIN models ON posters.run_id = models.run_id
LEFT JOIN scores.poster_predictions AS predictions
    ON posters.run_id = predictions.run_id
    AND models.model = predictions.model
    AND posters.task_id = predictions.task_id
LEFT JOIN records_of_models
    ON posters.task_set = records_of_models.task_set
    AND posters.task_id = records_of_models.task_id
WHERE posters.status = 'ok' AND posters.exclusion IS NULL AND posters.gold IS NOT NULL
