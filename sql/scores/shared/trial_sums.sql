-- What the trials of a system in a run come to: sums that add up over runs to the same digits.
-- by_run
-- grain: run × provider × model × settings × task set × is_replay
-- inherits: trials, scores.setups
-- n_counted_steps: trials with a known number of steps
-- n_steps: sum of their steps
-- duration_whole: sum of the whole parts of their durations, milliseconds; see exact_total
-- duration_fraction: sum of the fractions of their durations, milliseconds
-- n_passed_timed: passed trials of known duration
-- n_known_ends: trials whose end the log records
-- n_stopped: those of them that ended by a limit, by time or by an error
SELECT
    calls.suite,
    calls.run_id,
    calls.entry,
    count(trials.n_steps) AS n_counted_steps,
    CAST(sum(trials.n_steps) AS BIGINT) AS n_steps,
    sum(CAST(floor(trials.duration_ms) AS DECIMAL(15, 0))) AS duration_whole,
    sum(CAST(trials.duration_ms - floor(trials.duration_ms) AS DECIMAL(16, 15)))
        AS duration_fraction,
    count(*) FILTER (trials.passed AND trials.duration_ms IS NOT NULL) AS n_passed_timed,
    count(*) FILTER (trials.end_reason <> 'unknown') AS n_known_ends,
    count(*) FILTER (trials.end_reason IN ('limit', 'timeout', 'error')) AS n_stopped
FROM trials
JOIN scores.resolved_results AS calls
    ON trials.suite = calls.suite
    AND trials.run_id = calls.run_id
    AND trials.result_id = calls.result_id
WHERE trials.duplicate_of IS NULL
GROUP BY calls.suite, calls.run_id, calls.entry
