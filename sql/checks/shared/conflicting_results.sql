-- Tasks of a recorded run with different results for the same attempt: several processes logged it.
-- severity: critical
-- grain: run × model × task set × task × attempt
-- inherits: results
-- n_results: different results of the attempt
-- result_ids: their ids
SELECT
    results.suite,
    results.run_id,
    results.model,
    results.task_set,
    results.task_id,
    results.attempt,
    count(*) AS n_results,
    list(results.result_id ORDER BY results.result_id) AS result_ids
FROM results
SEMI JOIN (FROM runs WHERE origin = 'recorded') AS recorded USING (suite, run_id)
GROUP BY ALL
HAVING count(*) > 1
ORDER BY ALL
