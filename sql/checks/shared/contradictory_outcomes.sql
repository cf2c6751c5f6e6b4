-- Results that contradict themselves in their outcome, their verdict or their tools.
-- severity: critical
-- grain: result × reason
-- inherits: lake.results
-- reason: the contradiction
WITH found AS (
    -- A query for each reason: conditions on one column reach the scans, which read the rest of few.
    SELECT *, 'a success that was not available' AS reason
    FROM lake.results
    WHERE success AND availability_status <> 'ok'
    UNION ALL
    SELECT *, 'a success with a reason of failure'
    FROM lake.results
    WHERE success AND failure_type IS NOT NULL
    UNION ALL
    SELECT *, 'a failure without a reason'
    FROM lake.results
    WHERE availability_status <> 'ok' AND failure_type IS NULL
    UNION ALL
    SELECT *, 'a verdict without an answer'
    FROM lake.results
    WHERE objective_pass IS NOT NULL AND NOT success
    UNION ALL
    SELECT *, 'passed with a violation'
    FROM lake.results
    WHERE objective_pass AND violation IS NOT NULL
        AND (availability_status IS NOT NULL OR success IS NOT NULL)
    UNION ALL
    SELECT *, 'another number of tools than is listed'
    FROM lake.results
    WHERE tool_call_count IS NOT NULL AND tool_call_count <> len(tool_calls)
        AND (availability_status IS NOT NULL OR success IS NOT NULL)
)

SELECT
    suite,
    run_id,
    model,
    task_id,
    availability_status,
    success,
    failure_type,
    objective_pass,
    violation,
    tool_calls,
    tool_call_count,
    reason,
    content_id AS result_id
FROM found
ORDER BY suite, run_id, seq, content_id, reason
