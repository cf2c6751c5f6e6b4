-- How long each model took in each run, over the calls that were answered.
-- grain: run × provider × model × settings
-- p50_ms, p95_ms, p99_ms: percentiles by linear interpolation
-- ttft_p50_ms: median time to the first token, where it was captured
WITH answered AS (
    SELECT results.*
    FROM results
    WHERE availability_status = 'ok' AND success AND duplicate_of IS NULL
)

SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    count(latency_ms) AS n_timed,
    percentile_cont(0.50) WITHIN GROUP (ORDER BY latency_ms) AS p50_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95_ms,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY latency_ms) AS p99_ms,
    exact_mean(latency_ms) AS mean_ms,
    percentile_cont(0.50) WITHIN GROUP (ORDER BY CAST(ttft_ms AS DOUBLE)) AS ttft_p50_ms
FROM answered
GROUP BY suite, run_id, provider, model, settings
ORDER BY suite, run_id, provider, model, settings
