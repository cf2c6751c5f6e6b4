-- The models of replayed runs, whose answers came from a file: a rehearsal, not a result.
-- grain: suite × model × settings
-- first: suite, model, settings, pass_rate, n_judged, n_runs, last_date
-- n_runs: replayed runs with results of the model
WITH replays AS (
    SELECT *
    FROM scores.outcomes
    WHERE is_replay AND duplicate_of IS NULL
)

SELECT
    suite,
    model,
    settings,
    count(DISTINCT run_id) AS n_runs,
    count(*) AS n_results,
    count(passed) AS n_judged,
    count(*) FILTER (passed) AS n_passed,
    if(n_judged > 0, count(outcome), 0) AS n_trials,
    n_passed / nullif(n_trials, 0) AS pass_rate,
    min(run_date) AS first_date,
    max(run_date) AS last_date
FROM replays
GROUP BY suite, model, settings
ORDER BY suite, pass_rate DESC NULLS LAST, n_judged DESC, model, settings
