-- The answered calls of known latency, for latencies and latency_bands.
-- grain: answered call of known latency
-- inherits: results, scores.setups, scores.entry_calls, scores.latencies
SELECT
    calls.suite,
    calls.run_id,
    setups.entry,
    setups.series,
    setups.is_replay,
    calls.is_counted,
    calls.latency_ms
FROM (
    SELECT
        suite,
        run_id,
        setup,
        duplicate_of IS NULL AS is_counted,
        coalesce(CAST(e2e_ms AS DOUBLE), duration_seconds * 1000) AS latency_ms
    FROM lake.results
    WHERE
        NOT is_replaced
        AND is_cached IS NOT TRUE
        AND CASE
            WHEN records_outcomes(suite) THEN availability_status = 'ok' AND success
            ELSE coalesce(availability_status, 'ok') = 'ok' AND coalesce(success, true)
        END
) AS calls
JOIN scores.setups AS setups ON calls.setup = setups.setup
WHERE calls.latency_ms IS NOT NULL
