-- The median latency of the answered calls of each model that count, over all runs.
-- DuckDB finds it without putting the latencies in order, so that it takes as long for many small runs
-- as for few large ones.
-- grain: suite × provider × model × settings
-- inherits: scores.latencies, scores.setups
-- p50_ms: median latency, milliseconds
SELECT
    series,
    median(latency_ms) AS p50_ms
FROM scores.latencies
WHERE is_counted AND NOT is_replay
GROUP BY series
