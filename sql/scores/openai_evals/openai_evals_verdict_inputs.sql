-- The inputs of openai_evals_verdicts: how often each result passed, by the tool's own classes.
-- grain: openai/evals result with a match, or judged by JsonValidator
-- inherits: lake.result_scores
-- n_scores: matches of the sample; of JsonValidator, which has none, its scores `accuracy`
-- n_passed: those of them that passed
-- is_disputed: whether some matches of any one sample of the run passed and others did not
SELECT
    suite,
    run_id,
    result_id AS content_id,
    count(*) AS n_scores,
    count(*) FILTER (value = 1) AS n_passed,
    bool_or(n_passed NOT IN (0, n_scores)) OVER (PARTITION BY suite, run_id) AS is_disputed
FROM lake.result_scores
WHERE suite = 'openai_evals'
    AND (metric = 'passed' OR (scorer = 'JsonValidator' AND metric = 'accuracy'))
    AND value IN (0, 1)
GROUP BY suite, run_id, result_id
