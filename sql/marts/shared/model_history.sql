-- The pass rate of each model over time.
-- grain: suite × provider × model × settings × day
-- previous_pass_rate: pass rate of the previous day on which the model ran
-- n_gained: results that passed where the model's previous one for the task failed
-- n_lost: results that failed where the model's previous one for the task passed
WITH days AS (
    SELECT
        suite,
        provider,
        model,
        settings,
        run_date,
        count(*) AS n_judged,
        count(*) FILTER (passed) AS n_passed,
        n_passed / nullif(n_judged, 0) AS pass_rate,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost
    FROM verdict_changes
    GROUP BY suite, provider, model, settings, run_date
)

SELECT
    suite,
    provider,
    model,
    settings,
    run_date,
    n_judged,
    n_passed,
    pass_rate,
    wilson_low(n_passed, n_judged) AS pass_rate_low,
    wilson_high(n_passed, n_judged) AS pass_rate_high,
    lag(pass_rate) OVER (
        PARTITION BY suite, provider, model, settings ORDER BY run_date NULLS FIRST
    ) AS previous_pass_rate,
    n_gained,
    n_lost
FROM days
ORDER BY suite, provider, model, settings, run_date NULLS FIRST
