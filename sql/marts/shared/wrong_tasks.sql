-- Tasks that people rated as wrong in `evalstore view`, and by how many of those who rated an answer to them.
-- Each rater counts by the newest rating of each answer, so that a rating taken back counts no more. Nothing
-- is left out of any figure by it: `evalstore version SUITE --without-wrong NAME` names a version without them.
-- grain: suite × task set × version of a task
-- inherits: ratings, results
-- first: task_id, n_raters_wrong, n_raters, raters, notes, corrected_references
-- task_hash: content hash of the version whose answers were rated; NULL if not known
-- n_raters_wrong: raters who say so of any answer to the task
-- n_raters: raters of any answer to the task; those who did not say so may not have looked at the task
-- raters: names of those who say so, sorted
-- notes: their notes, in the order of the names
-- corrected_references: what they gave as the right answer, in the order of the names
WITH said AS (
    SELECT
        calls.suite,
        calls.task_set,
        calls.task_id,
        calls.task_hash,
        ratings.rater,
        coalesce((ratings.extra ->> '$.task_is_wrong') = 'true', false) AS is_wrong,
        ratings.reason AS note,
        ratings.extra ->> '$.corrected_reference' AS corrected_reference
    FROM ratings
    JOIN results AS calls
        ON ratings.result_suite = calls.suite
        AND ratings.result_run_id = calls.run_id
        AND ratings.result_id = calls.result_id
    WHERE ratings.rater_kind = 'human' AND ratings.rater IS NOT NULL AND ratings.is_current
)

SELECT
    suite,
    task_set,
    task_id,
    task_hash,
    count(DISTINCT rater) FILTER (is_wrong) AS n_raters_wrong,
    count(DISTINCT rater) AS n_raters,
    list_sort(list(DISTINCT rater) FILTER (is_wrong)) AS raters,
    list(note ORDER BY rater, note) FILTER (is_wrong AND note IS NOT NULL) AS notes,
    list(corrected_reference ORDER BY rater, corrected_reference)
        FILTER (is_wrong AND corrected_reference IS NOT NULL) AS corrected_references
FROM said
GROUP BY suite, task_set, task_id, task_hash
HAVING bool_or(is_wrong)
ORDER BY suite, n_raters_wrong DESC, task_set, task_id, task_hash
