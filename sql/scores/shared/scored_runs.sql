-- The runs that may have a row in run_metrics; all scores of the others are verdicts of tasks that were
-- asked once.
-- grain: run, once or more
-- inherits: results
SELECT suite, run_id
FROM scores.entry_rates
WHERE kinds IS NOT NULL AND (is_repeated OR pass_rate IS NULL)
UNION ALL
SELECT suite, run_id
FROM lake.result_scores
UNION ALL
SELECT coalesce(rated_suite, suite) AS suite, coalesce(rated_run_id, run_id) AS run_id
FROM lake.ratings
UNION ALL
SELECT suite, run_id
FROM scores.openclaw_answers
WHERE has_tool_verdict OR suite IN (SELECT suite FROM lake.tasks)
UNION ALL
SELECT suite, run_id
FROM scores.poster_prediction_scores
