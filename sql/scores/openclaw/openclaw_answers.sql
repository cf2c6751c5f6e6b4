-- What the tool use of each openclaw answer is computed from, whatever a prompt file may say later:
-- the tools in its text, by the original program's five patterns, and the recorded verdict.
-- by_run
-- grain: openclaw result
-- inherits: results, scores.entry_calls, tool_checks
-- prompt_key: hash of the task id, task name and task hash
-- is_answered: whether the call was answered without an error
-- has_tool_verdict: whether the recorded verdict is that of a validator of tools
-- recorded_use: whether that verdict is that an expected tool was used; NULL if it is not one of tools
SELECT
    suite,
    run_id,
    content_id,
    setup,
    thinking_level,
    task_number(task_id, task_name, task_hash) AS prompt_key,
    duplicate_of IS NULL AS is_counted,
    coalesce(availability_status = 'ok', false) AS is_answered,
    success,
    coalesce(
        starts_with(violation, 'no_tool_invocation')
        OR json_type(parsed_output, '$.detected_tools') = 'ARRAY',
        false
    ) AS has_tool_verdict,
    CASE WHEN has_tool_verdict THEN coalesce(objective_pass, tool_use_success) END AS recorded_use,
    tool_use_success AS recorded_success,
    openclaw_tools(raw_output) AS tools
FROM lake.results
WHERE suite = 'openclaw' AND NOT is_replaced
