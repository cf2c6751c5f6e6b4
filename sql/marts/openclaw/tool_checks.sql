-- The tool use of each openclaw answer: as recorded, and as computed.
-- grain: openclaw result
-- inherits: results
-- is_task_known: whether the prompt set of the run is known
-- expected_tools: tools of which an answer should use one; NULL if the task is not known
-- recorded_tools: tools that the log lists
-- recorded_success: verdict of the tool use in the log
-- tools: tools found by the original program's five patterns; NULL if there is no text
-- used_expected: whether an answered call used an expected tool; NULL if none is expected
-- original_success: verdict by the original program's rule, which accepts any tool where the prompt
--     expects none, and failed calls too; NULL if the task is not known
-- tier_basis: why an answered call counts for the model's tier: `expected`, the prompt file says that
--     the prompt asks for a tool; `inferred`, the prompt is not known, but the recorded verdict is
--     that of a validator of tools; NULL if the call does not count
-- is_used: whether an expected tool was used: `expected`, by the tools found; `inferred`, by the
--     recorded verdict of the validator; NULL if the call does not count
WITH tasks AS (
    SELECT
        *,
        -- A value that is not a list expects nothing.
        lowercase_names(try_cast(expected_tool_calls AS VARCHAR[])) AS original_tools
    FROM scores.openclaw_run_tasks
),

calls AS (
    SELECT
        results.*,
        tasks.run_id IS NOT NULL AS is_task_known,
        tasks.expected_tools,
        tasks.original_tools,
        found.tools,
        -- The prompt file decides about a prompt that it has.
        coalesce(json_extract_string(tasks.validator, '$.type'), '') = 'tool_invocation'
            OR NOT is_task_known AS can_ask_for_tools,
        coalesce(
            starts_with(results.violation, 'no_tool_invocation')
            OR json_type(results.parsed_output, '$.detected_tools') = 'ARRAY',
            false
        ) AS has_tool_verdict
    FROM results
    LEFT JOIN tasks
        ON results.run_id = tasks.run_id
        AND results.task_id = tasks.task_id
        AND results.task_name IS NOT DISTINCT FROM tasks.task_name
        AND results.task_hash IS NOT DISTINCT FROM tasks.task_hash
    LEFT JOIN scores.openclaw_answer_tools AS found
        ON results.suite = found.suite
        AND results.run_id = found.run_id
        AND results.result_id = found.content_id
    WHERE results.suite = 'openclaw'
)

SELECT
    run_id,
    result_id,
    seq,
    provider,
    model,
    settings,
    thinking_level,
    task_id,
    task_name,
    availability_status,
    success,
    is_task_known,
    expected_tools,
    tool_calls AS recorded_tools,
    tool_use_success AS recorded_success,
    tools,
    CASE
        WHEN len(expected_tools) > 0 THEN coalesce(
            success AND availability_status = 'ok' AND list_has_any(tools, expected_tools), false
        )
    END AS used_expected,
    CASE
        WHEN NOT is_task_known OR tools IS NULL THEN NULL
        WHEN coalesce(len(original_tools), 0) = 0 THEN len(tools) > 0
        ELSE list_has_any(tools, original_tools)
    END AS original_success,
    CASE
        WHEN availability_status IS DISTINCT FROM 'ok' THEN NULL
        WHEN len(expected_tools) > 0 THEN 'expected'
        WHEN can_ask_for_tools AND has_tool_verdict THEN 'inferred'
    END AS tier_basis,
    CASE tier_basis
        WHEN 'expected' THEN used_expected
        WHEN 'inferred' THEN coalesce(objective_pass, tool_use_success)
    END AS is_used,
    is_replay,
    duplicate_of
FROM calls
