-- Whether a BFCL result passed. The scores hold the failures only: a result that is not among them
-- passed, if the numbers of results and failures are those that the scores state.
-- grain: BFCL result of a category with scores
-- materialised
-- suite: bfcl
-- key: suite, run_id, content_id
-- inputs: bfcl_verdict_inputs
-- inherits: scores.bfcl_verdict_inputs
-- is_correct: whether it passed; NULL if the results and the scores do not fit together
-- violation: why it failed, as recorded, or why there is no verdict
WITH judged AS (
    SELECT
        *,
        coalesce(
            n_results = n_total AND n_total - n_correct = n_failures AND n_found = n_failures,
            false
        ) AS is_consistent
    FROM inputs
)

SELECT
    suite,
    run_id,
    content_id,
    CASE WHEN is_consistent THEN NOT is_failure END AS is_correct,
    CASE
        WHEN is_consistent THEN error_type
        ELSE concat(
            n_results, ' results and ', n_failures, ' failures, of ', CAST(n_total AS BIGINT),
            ' results and ', CAST(n_total - n_correct AS BIGINT), ' failures by the scores'
        )
    END AS violation
FROM judged
