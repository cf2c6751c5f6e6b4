-- The models of replayed runs, whose answers came from a file: a rehearsal, not a result.
-- Those of adaptive runs are left out.
-- grain: suite × model × settings
-- first: suite, model, settings, pass_rate, n_judged, n_runs, last_date
-- n_runs: replayed runs with results of the model
SELECT
    suite,
    model,
    settings,
    count(DISTINCT run_id) AS n_runs,
    CAST(sum(n_results) AS BIGINT) AS n_results,
    CAST(sum(n_judged) AS BIGINT) AS n_judged,
    CAST(sum(n_passed) AS BIGINT) AS n_passed,
    if(sum(n_judged) > 0, CAST(sum(n_outcomes) AS BIGINT), 0) AS n_trials,
    sum(n_passed) / nullif(n_trials, 0) AS pass_rate,
    min(first_date) AS first_date,
    max(last_date) AS last_date
FROM scores.entry_trials
ANTI JOIN (FROM scores.run_headers WHERE is_adaptive) USING (suite, run_id)
WHERE is_counted AND is_replay
GROUP BY suite, model, settings
ORDER BY suite, pass_rate DESC NULLS LAST, n_judged DESC, model, settings
