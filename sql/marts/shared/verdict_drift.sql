-- Recorded verdicts that our own computation does not confirm.
-- grain: result
-- inherits: verdicts
-- first: model, task_id, recorded, computed, answer, reference, run_id
-- answer: the text that was judged: the extracted answer, in openclaw the whole text
-- reference: the right answer, in openclaw the validator
-- recorded_violation: recorded reason of the failed validator, in openclaw
-- computed_violation: computed reason of the failed validator, in openclaw
SELECT
    verdicts.suite,
    verdicts.run_id,
    verdicts.model,
    verdicts.settings,
    verdicts.task_id,
    coalesce(nullif(results.answer, ''), results.raw_output, results.answer) AS answer,
    coalesce(ours.reference, inputs.validator) AS reference,
    verdicts.recorded,
    verdicts.computed,
    results.violation AS recorded_violation,
    ours.violation AS computed_violation,
    verdicts.result_id
FROM verdicts
JOIN results
    ON verdicts.suite = results.suite
    AND verdicts.run_id = results.run_id
    AND verdicts.result_id = results.result_id
JOIN scores.computed_verdicts AS ours
    ON verdicts.suite = ours.suite
    AND verdicts.run_id = ours.run_id
    AND verdicts.result_id = ours.content_id
LEFT JOIN scores.openclaw_verdict_inputs AS inputs
    ON verdicts.suite = inputs.suite
    AND verdicts.run_id = inputs.run_id
    AND verdicts.result_id = inputs.content_id
WHERE verdicts.recorded <> verdicts.computed
ORDER BY verdicts.suite, verdicts.run_id, results.seq, verdicts.result_id
