-- Ratings of results of the same run as scores: each judge is a scorer, and people together, the criterion is
-- the metric. Ratings of the turns of an answer, and of several people, are one score, their mean.
-- grain: result × scorer × metric
-- inherits: lake.ratings
-- scorer: name of the rater; see rater_name
-- metric: the criterion
-- value: mean of the ratings
-- score_id: id of the first of the ratings
SELECT
    suite,
    run_id,
    result_id,
    rater_name(rater, rater_kind, rater_config) AS scorer,
    criterion AS metric,
    list_aggregate(list(value ORDER BY value), 'fsum') / count(*) AS value,
    min(content_id) AS score_id,
    min(file_sha256) AS file_sha256,
    min(batch) AS batch
FROM lake.ratings
WHERE result_id IS NOT NULL AND value IS NOT NULL AND rated_suite IS NULL AND rated_run_id IS NULL
GROUP BY suite, run_id, result_id, scorer, criterion
