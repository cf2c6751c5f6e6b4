-- The latency of each model in each run, over the answered calls.
-- grain: run × provider × model × settings
-- inherits: scores.run_latencies
-- first: run_id, model, settings, p50_ms, p95_ms, n_timed
SELECT
    suite,
    run_id,
    times.run_date,
    provider,
    model,
    settings,
    n_timed,
    n_timed_tasks,
    n_independent,
    p50_ms,
    p95_ms,
    p95_ms_low,
    p95_ms_high,
    p99_ms,
    mean_ms,
    ttft_p50_ms
FROM scores.run_latencies
JOIN scores.run_times AS times USING (suite, run_id)
ORDER BY suite, run_id, provider, model, settings
