-- Runs whose model file is missing: the model is known by the recorded path alone.
-- severity: warning
-- grain: run × model path
SELECT
    suite,
    run_id,
    model_path,
    count(*) AS n_results
FROM results
WHERE NOT is_resolved
GROUP BY suite, run_id, model_path
ORDER BY suite, run_id, model_path
