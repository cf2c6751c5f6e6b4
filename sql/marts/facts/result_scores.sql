-- Every score of every result, of all suites: those that a log or a user's code gave, the verdict as
-- the metric `passed`, ratings that are numbers (their mean over turns, and over people), whether an
-- openclaw answer used a tool as the metric `tool_use`, and the sub-scores of poster_scores. A verdict is left out where the log has a score `passed` itself. A
-- poster without a result has no row here, though it counts in `metrics`. Results that no figure
-- counts (replays, duplicate calls) have scores too: join `results` to leave them out.
-- grain: result × scorer × metric × filter
-- inherits: lake.result_scores, results
-- first: run_id, result_id, scorer, metric, filter, value, text, passed
-- scorer: what gave the score; NULL if not recorded, and where evalstore computes the score
-- position: position among the scores of its result, from 1; NULL if not recorded. The verdict of an
--     Inspect sample is that of its first score.
-- value: the score, 1 or 0 for a verdict; NULL if it is not a finite number
-- score_id: id of the score
-- file_sha256: SHA-256 of the imported file that the score or its result came from
-- batch: batch that the score or its result came in with
WITH own AS (
    SELECT suite, run_id, result_id
    FROM lake.result_scores
    WHERE metric = 'passed'
),

verdicts_of_results AS (
    SELECT
        calls.suite,
        calls.run_id,
        calls.result_id,
        coalesce(calls.is_correct, calls.objective_pass) AS recorded,
        coalesce(recorded, ours.is_correct) AS passed,
        CASE WHEN recorded IS NOT NULL THEN calls.scorer END AS scorer,
        calls.answer,
        CASE WHEN recorded IS NULL THEN ours.violation ELSE calls.violation END AS explanation,
        calls.file_sha256,
        calls.batch
    FROM results AS calls
    LEFT JOIN scores.computed_verdicts AS ours
        ON calls.suite = ours.suite
        AND calls.run_id = ours.run_id
        AND calls.result_id = ours.content_id
)

SELECT
    suite,
    run_id,
    result_id,
    scorer,
    metric,
    filter,
    position,
    value,
    text,
    passed,
    answer,
    explanation,
    weight,
    check_class,
    counts,
    extra,
    content_id AS score_id,
    file_sha256,
    batch
FROM lake.result_scores
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    scorer,
    'passed' AS metric,
    NULL AS filter,
    NULL AS position,
    CAST(passed AS DOUBLE) AS value,
    NULL AS text,
    passed,
    answer,
    explanation,
    NULL AS weight,
    NULL AS check_class,
    NULL AS counts,
    NULL AS extra,
    result_id || ' passed' AS score_id,
    file_sha256,
    batch
FROM verdicts_of_results
ANTI JOIN own USING (suite, run_id, result_id)
WHERE passed IS NOT NULL
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    scorer,
    metric,
    NULL AS filter,
    NULL AS position,
    value,
    NULL AS text,
    NULL AS passed,
    NULL AS answer,
    NULL AS explanation,
    NULL AS weight,
    NULL AS check_class,
    NULL AS counts,
    NULL AS extra,
    score_id,
    file_sha256,
    batch
FROM scores.rating_scores
UNION ALL
SELECT
    calls.suite,
    calls.run_id,
    calls.content_id AS result_id,
    NULL AS scorer,
    'tool_use' AS metric,
    NULL AS filter,
    NULL AS position,
    CAST(checks.is_used AS DOUBLE) AS value,
    NULL AS text,
    checks.is_used AS passed,
    NULL AS answer,
    NULL AS explanation,
    NULL AS weight,
    NULL AS check_class,
    NULL AS counts,
    NULL AS extra,
    calls.content_id || ' tool_use' AS score_id,
    calls.file_sha256,
    calls.batch
FROM scores.openclaw_tool_use AS checks
JOIN lake.results AS calls
    ON checks.suite = calls.suite
    AND checks.run_id = calls.run_id
    AND checks.result_id = calls.content_id
WHERE checks.is_used IS NOT NULL
UNION ALL
SELECT
    calls.suite,
    calls.run_id,
    calls.content_id AS result_id,
    NULL AS scorer,
    sub_scores.metric,
    NULL AS filter,
    NULL AS position,
    sub_scores.value,
    NULL AS text,
    NULL AS passed,
    NULL AS answer,
    sub_scores.reason AS explanation,
    NULL AS weight,
    NULL AS check_class,
    NULL AS counts,
    NULL AS extra,
    calls.content_id || ' ' || sub_scores.metric AS score_id,
    calls.file_sha256,
    calls.batch
FROM scores.poster_sub_scores AS sub_scores
JOIN lake.results AS calls
    ON sub_scores.suite = calls.suite
    AND sub_scores.run_id = calls.run_id
    AND sub_scores.result_id = calls.content_id
