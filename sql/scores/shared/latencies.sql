-- The latency of each answered call, a narrow row each: a sync adds those of its runs at the end.
-- by_run
-- grain: answered call of known latency
-- inherits: results, scores.setups, scores.entry_calls
-- is_counted: as in scores.entry_calls
-- latency_ms: latency of the call, milliseconds
SELECT
    suite,
    run_id,
    entry,
    series,
    is_replay,
    is_counted,
    latency_ms
FROM scores.timed_calls
