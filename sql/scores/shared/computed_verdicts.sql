-- The verdicts that evalstore computes, of all suites.
-- grain: result with a computed verdict
-- is_correct: whether the result passes; NULL if nothing could be judged
-- reference: the right answer; NULL in openclaw, where the task's validator has it
-- violation: why it does not pass, or why there is no verdict; NULL in palindrome
SELECT
    suite,
    run_id,
    content_id,
    is_correct,
    reference,
    NULL AS violation
FROM scores.palindrome_verdicts
UNION ALL
SELECT
    suite,
    run_id,
    content_id,
    objective_pass AS is_correct,
    NULL AS reference,
    violation
FROM scores.openclaw_verdicts
UNION ALL
SELECT
    suite,
    run_id,
    content_id,
    is_correct,
    reference,
    violation
FROM scores.own_verdicts
UNION ALL
SELECT
    suite,
    run_id,
    content_id,
    is_correct,
    NULL AS reference,
    violation
FROM scores.bfcl_verdicts
UNION ALL
SELECT
    suite,
    run_id,
    content_id,
    is_correct,
    NULL AS reference,
    violation
FROM scores.helm_verdicts
UNION ALL
SELECT
    suite,
    run_id,
    content_id,
    is_correct,
    NULL AS reference,
    violation
FROM scores.openai_evals_verdicts
UNION ALL
SELECT
    suite,
    run_id,
    content_id,
    is_correct,
    NULL AS reference,
    violation
FROM scores.zeroeval_verdicts
