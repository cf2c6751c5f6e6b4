-- Runs whose model file is missing: of the model, only the recorded path is known.
-- severity: warning
-- grain: run × model path
-- inherits: lake.runs
SELECT
    suite,
    run_id,
    model_path,
    count(*) AS n_results
FROM results
WHERE NOT is_resolved
GROUP BY suite, run_id, model_path
ORDER BY suite, run_id, model_path
