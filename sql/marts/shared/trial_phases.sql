-- The phases of trials, such as set-up, agent and tests: where their time goes.
-- grain: result × phase
-- inherits: trials
-- first: run_id, task_id, system, phase, duration_ms, passed
-- position: position of the phase in the trial, from 1
-- phase: name of the phase, as recorded
-- started_at: start of the phase, UTC; NULL if it was not reached, or not recorded
-- ended_at: end of the phase, UTC
-- duration_ms: from its start to its end, milliseconds
WITH listed AS (
    SELECT
        suite,
        run_id,
        result_id,
        unnest(json_extract(phases, '$[*]')) AS phase,
        generate_subscripts(json_extract(phases, '$[*]'), 1) AS position
    FROM scores.resolved_results
    WHERE phases IS NOT NULL
)

SELECT
    trials.suite,
    trials.run_id,
    trials.result_id,
    trials.task_set,
    trials.task_id,
    trials.system,
    listed.position,
    json_extract_string(listed.phase, '$.name') AS phase,
    try_cast(json_extract_string(listed.phase, '$.started_at') AS TIMESTAMPTZ) AT TIME ZONE 'UTC'
        AS started_at,
    try_cast(json_extract_string(listed.phase, '$.ended_at') AS TIMESTAMPTZ) AT TIME ZONE 'UTC'
        AS ended_at,
    date_diff(
        'microsecond',
        try_cast(json_extract_string(listed.phase, '$.started_at') AS TIMESTAMPTZ),
        try_cast(json_extract_string(listed.phase, '$.ended_at') AS TIMESTAMPTZ)
    ) / 1000.0 AS duration_ms,
    trials.passed,
    trials.end_reason
FROM listed
JOIN trials USING (suite, run_id, result_id)
ORDER BY trials.suite, trials.run_id, trials.result_id, listed.position
