-- The latency of each model in its latest run with timed answers to 6 tasks, fastest first.
-- grain: suite × provider × model × settings
-- p50_ms, p95_ms, p95_ms_low, p95_ms_high: milliseconds
SELECT
    suite,
    provider,
    model,
    settings,
    run_id,
    n_timed,
    p50_ms,
    p95_ms,
    p95_ms_low,
    p95_ms_high
FROM latency
WHERE ($suite IS NULL OR suite = $suite) AND p50_ms IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY suite, provider, model, settings
    ORDER BY run_date DESC NULLS LAST, run_id DESC
) = 1
ORDER BY suite, p50_ms, provider, model, settings
