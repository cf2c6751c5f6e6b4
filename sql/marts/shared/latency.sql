-- The latency of each model in each run, over the answered calls.
-- grain: run × provider × model × settings
-- first: run_id, model, settings, p50_ms, p95_ms, n_timed
-- n_timed: answered calls with a known latency, without answers that came from a cache
-- ttft_p50_ms: median time to the first token of the calls that record it, milliseconds
WITH answered AS (
    SELECT
        suite,
        run_id,
        provider,
        model,
        settings,
        count(latency_ms) AS n_timed,
        list_sort(list(latency_ms) FILTER (latency_ms IS NOT NULL)) AS times_ms,
        exact_mean(latency_ms) AS mean_ms,
        list_sort(list(CAST(ttft_ms AS DOUBLE)) FILTER (ttft_ms IS NOT NULL)) AS ttfts_ms
    FROM scores.counted_results
    WHERE availability_status = 'ok' AND success AND NOT is_cached
    GROUP BY suite, run_id, provider, model, settings
)

SELECT
    suite,
    run_id,
    times.run_date,
    provider,
    model,
    settings,
    n_timed,
    linear_percentile(times_ms, 0.50) AS p50_ms,
    linear_percentile(times_ms, 0.95) AS p95_ms,
    linear_percentile(times_ms, 0.99) AS p99_ms,
    mean_ms,
    linear_percentile(ttfts_ms, 0.50) AS ttft_p50_ms
FROM answered
JOIN scores.run_times AS times USING (suite, run_id)
ORDER BY suite, run_id, provider, model, settings
