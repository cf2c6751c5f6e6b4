-- Whether a ZeroEval answer is right, by the tool's rule for crux: the same text as the right answer, without quotes
-- around either. No answer is wrong.
-- grain: ZeroEval result
-- materialised
-- suite: zeroeval
-- key: suite, run_id, content_id
-- inputs: zeroeval_verdict_inputs
-- inherits: scores.zeroeval_verdict_inputs
-- is_correct: whether the answer is right; NULL of data sets other than crux, and if the right answer is not known
-- violation: why it does not pass, or why there is no verdict
SELECT
    suite,
    run_id,
    content_id,
    CASE
        WHEN task_set = 'crux' AND target IS NOT NULL
            THEN coalesce(
                replace(trim(answer, '"'''), chr(10), '\n') = replace(trim(target, '"'''), chr(10), '\n'), false
            )
    END AS is_correct,
    CASE
        WHEN task_set <> 'crux' THEN 'evalstore has no scorer for the data set ' || task_set
        WHEN target IS NULL THEN 'the right answer is not known'
        WHEN answer IS NULL THEN 'no answer'
        WHEN NOT is_correct THEN 'another answer'
    END AS violation
FROM inputs
