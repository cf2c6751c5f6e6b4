-- Whether a palindrome answer is right, by the original program's rule.
-- grain: palindrome result whose task is known
-- materialised
-- suite: palindrome
-- key: suite, run_id, content_id
-- inputs: palindrome_verdict_inputs
-- inherits: scores.palindrome_verdict_inputs
-- is_correct: whether the answer is right
SELECT
    suite,
    run_id,
    content_id,
    reference,
    palindrome_correct(answer, reference) AS is_correct
FROM inputs
