-- Recorded tools, or verdicts of their use, that the original program's rules do not confirm.
-- grain: openclaw result
-- inherits: tool_checks
SELECT
    run_id,
    provider,
    model,
    settings,
    task_id,
    recorded_tools,
    tools,
    recorded_success,
    original_success,
    result_id
FROM tool_checks
WHERE recorded_tools <> tools OR recorded_success <> original_success
ORDER BY run_id, seq, result_id
