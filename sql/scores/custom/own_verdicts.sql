-- Whether an answer of a user's own suite passes, by the scorer of its task.
-- grain: answered result of a user's own suite, whose task has a rule that can be computed
-- materialised
-- suite: own
-- key: suite, run_id, content_id
-- inputs: own_verdict_inputs
-- inherits: scores.own_verdict_inputs
-- is_correct: whether it passes; NULL if nothing is validated, or nothing could be
-- violation: why it does not pass, or why there is no verdict
WITH judged AS (
    SELECT
        *,
        scorer_verdict(raw_output, scorer) AS verdict
    FROM inputs
)

SELECT
    suite,
    run_id,
    content_id,
    reference,
    verdict.passed AS is_correct,
    verdict.reason AS violation
FROM judged
