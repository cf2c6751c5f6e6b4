-- Ratings of results as scores of the run that has the result, whichever run has the rating: each judge is a
-- scorer, and people together, the criterion is the metric. Ratings of the turns of an answer, and of several
-- people, are one score, their mean; of one rater's the newest counts.
-- grain: result × scorer × metric
-- inherits: lake.ratings
-- scorer: name of the rater; see rater_name
-- metric: the criterion
-- value: mean of the ratings
-- score_id: id of the first of the ratings
WITH newest AS (
    SELECT
        coalesce(rated_suite, suite) AS result_suite,
        coalesce(rated_run_id, run_id) AS result_run_id,
        result_id,
        rater_name(rater, rater_kind, rater_config) AS scorer,
        criterion,
        arg_max(
            {value: value, content_id: content_id, file_sha256: file_sha256, batch: batch},
            {rated_at: coalesce(rated_at, TIMESTAMP '0001-01-01'), batch: batch, id: content_id}
        ) AS rating
    FROM lake.ratings
    WHERE result_id IS NOT NULL
        -- A person's rating that was withdrawn hides the one before.
        AND (value IS NOT NULL OR rater_kind = 'human' AND status = 'not_applicable')
    GROUP BY
        result_suite, result_run_id, result_id, criterion, turn, rater, slot, rater_kind, rater_config,
        CASE WHEN rater IS NULL AND slot IS NULL THEN content_id END
)

SELECT
    result_suite AS suite,
    result_run_id AS run_id,
    result_id,
    scorer,
    criterion AS metric,
    list_aggregate(list(rating.value ORDER BY rating.value), 'fsum') / count(*) AS value,
    min(rating.content_id) AS score_id,
    min(rating.file_sha256) AS file_sha256,
    min(rating.batch) AS batch
FROM newest
WHERE rating.value IS NOT NULL
GROUP BY result_suite, result_run_id, result_id, scorer, criterion
