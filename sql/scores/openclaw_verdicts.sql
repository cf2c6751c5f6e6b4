-- Whether an openclaw answer passes its task's validator, by the original program's rules.
-- grain: answered openclaw result whose task is known and has a validator
-- materialised
-- suite: openclaw
-- key: suite, run_id, content_id
-- inputs: openclaw_verdict_inputs
-- objective_pass: NULL where nothing is validated, or nothing could be
-- violation: why it does not pass, or why there is no verdict
-- parsed_output: JSON object, what the validator read
WITH judged AS (
    SELECT
        suite,
        run_id,
        content_id,
        openclaw_verdict(raw_output, validator) AS verdict
    FROM inputs
)

SELECT
    suite,
    run_id,
    content_id,
    verdict.objective_pass AS objective_pass,
    verdict.violation AS violation,
    verdict.parsed_output AS parsed_output
FROM judged
