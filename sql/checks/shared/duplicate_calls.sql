-- Calls that are in more than one run; the marts count them once.
-- severity: warning
-- grain: result that is not counted
-- inherits: results
-- duplicate_of: run in which the call is counted
SELECT
    results.suite,
    results.run_id,
    results.duplicate_of,
    results.model,
    results.task_id,
    results.started_at,
    results.result_id
FROM results
WHERE results.duplicate_of IS NOT NULL
ORDER BY results.suite, results.run_id, results.seq, results.result_id
