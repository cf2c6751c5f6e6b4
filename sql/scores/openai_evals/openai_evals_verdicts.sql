-- Whether an openai/evals result passed: its match. Where a sample has several that differ, the figure
-- of the run is a mean over matches, and no share of samples that passed.
-- grain: openai/evals result with a match, or judged by JsonValidator
-- materialised
-- suite: openai_evals
-- key: suite, run_id, content_id
-- inputs: openai_evals_verdict_inputs
-- inherits: scores.openai_evals_verdict_inputs
-- is_correct: whether it passed; NULL if the matches of any sample of the run differ
-- violation: why there is no verdict; NULL if there is one
SELECT
    suite,
    run_id,
    content_id,
    CASE WHEN NOT is_disputed THEN n_passed > 0 END AS is_correct,
    CASE WHEN is_disputed THEN 'matches of the same sample differ in its run' END AS violation
FROM inputs
