-- The latency of each answered call that counts, a narrow row each: a sync adds those of its runs at
-- the end.
-- by_run
-- grain: answered call of known latency
-- inherits: results, scores.setups
-- latency_ms: latency of the call, milliseconds
SELECT
    calls.suite,
    calls.run_id,
    setups.series,
    calls.latency_ms
FROM (
    SELECT
        suite,
        run_id,
        setup,
        coalesce(CAST(e2e_ms AS DOUBLE), duration_seconds * 1000) AS latency_ms
    FROM lake.results
    WHERE
        NOT is_replaced
        AND duplicate_of IS NULL
        AND is_cached IS NOT TRUE
        AND CASE
            WHEN records_outcomes(suite) THEN availability_status = 'ok' AND success
            ELSE coalesce(availability_status, 'ok') = 'ok' AND coalesce(success, true)
        END
) AS calls
JOIN scores.setups AS setups ON calls.setup = setups.setup
WHERE calls.latency_ms IS NOT NULL AND NOT setups.is_replay
