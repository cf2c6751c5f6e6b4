-- Recorded verdicts that our own computation does not confirm.
-- grain: result
-- recorded: the log's own verdict
-- computed: ours, by the original program's rule
SELECT
    verdicts.suite,
    verdicts.run_id,
    verdicts.model,
    verdicts.settings,
    verdicts.task_id,
    results.answer,
    palindromes.reference,
    verdicts.recorded,
    verdicts.computed,
    verdicts.result_id
FROM verdicts
JOIN results
    ON verdicts.suite = results.suite
    AND verdicts.run_id = results.run_id
    AND verdicts.result_id = results.result_id
LEFT JOIN scores.palindrome_verdicts AS palindromes
    ON verdicts.suite = palindromes.suite
    AND verdicts.run_id = palindromes.run_id
    AND verdicts.result_id = palindromes.content_id
WHERE verdicts.recorded <> verdicts.computed
ORDER BY verdicts.suite, verdicts.run_id, results.seq, verdicts.result_id
