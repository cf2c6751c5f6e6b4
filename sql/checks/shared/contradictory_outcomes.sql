-- Results that contradict themselves in their outcome, their verdict or their tools.
-- severity: critical
-- grain: result × reason
-- inherits: lake.results
-- reason: the contradiction
WITH contradictions AS (
    SELECT
        *,
        success AND availability_status <> 'ok' AS is_unavailable,
        success AND failure_type IS NOT NULL AS is_failed,
        availability_status <> 'ok' AND failure_type IS NULL AS is_unexplained,
        objective_pass IS NOT NULL AND NOT success AS is_unanswered,
        objective_pass AND violation IS NOT NULL AS is_violating,
        tool_call_count <> len(tool_calls) AS is_miscounted
    FROM lake.results
    WHERE availability_status IS NOT NULL OR success IS NOT NULL
),

-- Lists of all results would take most of the time: few contradict themselves.
found AS (
    SELECT
        *,
        unnest([
            CASE WHEN is_unavailable THEN 'a success that was not available' END,
            CASE WHEN is_failed THEN 'a success with a reason of failure' END,
            CASE WHEN is_unexplained THEN 'a failure without a reason' END,
            CASE WHEN is_unanswered THEN 'a verdict without an answer' END,
            CASE WHEN is_violating THEN 'passed with a violation' END,
            CASE WHEN is_miscounted THEN 'another number of tools than is listed' END
        ]) AS reason
    FROM contradictions
    WHERE
        is_unavailable OR is_failed OR is_unexplained OR is_unanswered OR is_violating
        OR is_miscounted
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
WHERE reason IS NOT NULL
ORDER BY suite, run_id, seq, content_id, reason
