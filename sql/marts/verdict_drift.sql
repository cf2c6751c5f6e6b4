-- Recorded verdicts that our own computation does not confirm.
-- grain: result
-- recorded: the log's own verdict
-- answer: what was judged; in openclaw the whole text
-- reference: the right answer; in openclaw the validator
-- computed: ours, by the original program's rule
-- recorded_violation, computed_violation: why it did not pass, in openclaw
SELECT
    verdicts.suite,
    verdicts.run_id,
    verdicts.model,
    verdicts.settings,
    verdicts.task_id,
    coalesce(results.answer, results.raw_output) AS answer,
    coalesce(palindromes.reference, tasks.validator) AS reference,
    verdicts.recorded,
    verdicts.computed,
    results.violation AS recorded_violation,
    openclaw.violation AS computed_violation,
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
LEFT JOIN scores.openclaw_verdicts AS openclaw
    ON verdicts.suite = openclaw.suite
    AND verdicts.run_id = openclaw.run_id
    AND verdicts.result_id = openclaw.content_id
LEFT JOIN scores.openclaw_run_tasks AS tasks
    ON results.suite = 'openclaw'
    AND results.run_id = tasks.run_id
    AND results.task_id = tasks.task_id
    AND results.task_name IS NOT DISTINCT FROM tasks.task_name
    AND results.task_hash IS NOT DISTINCT FROM tasks.task_hash
WHERE verdicts.recorded <> verdicts.computed
ORDER BY verdicts.suite, verdicts.run_id, results.seq, verdicts.result_id
