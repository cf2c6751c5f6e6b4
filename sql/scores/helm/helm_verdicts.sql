-- Whether a HELM result passed: its exact match, where nothing else in its run says how good an
-- answer is. HELM ranks some scenarios by `exact_match`, some by `quasi_exact_match` and others by
-- scores such as `f1_score`, and the run does not record which.
-- grain: HELM result with the score `passed`
-- materialised
-- suite: helm
-- key: suite, run_id, content_id
-- inputs: helm_verdict_inputs
-- inherits: scores.helm_verdict_inputs
-- is_correct: whether it passed; NULL if the scores of the run leave it open
-- violation: why there is no verdict; NULL if there is one
SELECT
    suite,
    run_id,
    content_id,
    CASE
        WHEN other_metric IS NOT NULL THEN concat('its run is also scored by ', other_metric)
        WHEN is_disputed THEN 'exact_match and quasi_exact_match differ in its run'
    END AS violation,
    CASE WHEN violation IS NULL THEN value = 1 END AS is_correct
FROM inputs
