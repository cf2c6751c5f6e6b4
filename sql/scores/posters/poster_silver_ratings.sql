-- What records of models (silver) and gold say of each prediction of a run with the tag gold_probability. By it the
-- owner declares how gold posters were drawn: it is the probability with which each was chosen to become gold.
-- grain: prediction × rater
-- inherits: lake.ratings
-- rater: silver; NULL for gold
-- value: app_quality by that record; NULL for gold where the poster has none
-- sampling_probability: as declared; NULL if the tag is no probability
WITH declared AS (
    SELECT suite, run_id, try_cast(value AS DOUBLE) AS probability
    FROM run_tags
    WHERE name = 'gold_probability'
),

scored AS (
    SELECT
        scores.suite,
        scores.run_id,
        predictions.content_id AS result_id,
        CASE WHEN declared.probability > 0 AND declared.probability <= 1 THEN declared.probability END AS chance,
        if(scores.label = 'gold', scores.silver_app_quality, scores.app_quality) AS by_silver,
        CASE WHEN scores.label = 'gold' THEN scores.app_quality END AS by_gold
    FROM scores.poster_prediction_scores AS scores
    JOIN declared USING (suite, run_id)
    JOIN scores.poster_predictions AS predictions USING (run_id, model, task_id)
    ANTI JOIN scores.replayed_models USING (suite, run_id, model)
),

said AS (
    SELECT
        suite,
        run_id,
        result_id,
        unnest(['silver', NULL]) AS rater,
        unnest(['judge', 'gold']) AS rater_kind,
        unnest([by_silver, by_gold]) AS value,
        unnest([NULL, chance]) AS sampling_probability
    FROM scored
    WHERE by_silver IS NOT NULL
)

SELECT
    suite,
    run_id,
    result_id,
    'app_quality' AS criterion,
    rater,
    rater_kind,
    value,
    sampling_probability,
    0.0 AS scale_low,
    100.0 AS scale_high,
    rater_kind || ' ' || result_id AS content_id
FROM said
