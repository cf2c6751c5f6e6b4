-- Results that contradict themselves in their outcome, their verdict or their tools.
-- severity: critical
-- grain: result × reason
-- inherits: lake.results
-- reason: the contradiction
WITH reasons AS (
    SELECT
        *,
        unnest([
            CASE WHEN success AND availability_status <> 'ok'
                THEN 'a success that was not available' END,
            CASE WHEN success AND failure_type IS NOT NULL
                THEN 'a success with a reason of failure' END,
            CASE WHEN availability_status <> 'ok' AND failure_type IS NULL
                THEN 'a failure without a reason' END,
            CASE WHEN objective_pass IS NOT NULL AND NOT success
                THEN 'a verdict without an answer' END,
            CASE WHEN objective_pass AND violation IS NOT NULL
                THEN 'passed with a violation' END,
            CASE WHEN tool_call_count <> len(tool_calls)
                THEN 'another number of tools than is listed' END
        ]) AS reason
    FROM lake.results
    WHERE availability_status IS NOT NULL OR success IS NOT NULL
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
FROM reasons
WHERE reason IS NOT NULL
ORDER BY suite, run_id, seq, content_id, reason
