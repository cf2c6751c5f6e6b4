-- The tool use of each openclaw answer, from what was asked and what was answered.
-- grain: openclaw result
-- inherits: results, scores.openclaw_answers, tool_checks
WITH tasks AS (
    SELECT
        run_id,
        task_number(task_id, task_name, task_hash) AS prompt_key,
        expected_tools,
        -- A text is a list of its characters to the original program; what else is not a list
        -- expects nothing.
        lowercase_names(
            CASE
                WHEN json_type(expected_tool_calls) = 'VARCHAR'
                    THEN regexp_extract_all(expected_tool_calls ->> '$', '(?s).')
                ELSE try_cast(expected_tool_calls AS VARCHAR[])
            END
        ) AS original_tools,
        coalesce(json_extract_string(validator, '$.type'), '') = 'tool_invocation'
            AS can_ask_for_tools
    FROM scores.openclaw_run_tasks
),

calls AS (
    SELECT
        answers.*,
        setups.provider,
        setups.model,
        setups.settings,
        setups.is_replay,
        setups.series,
        tasks.run_id IS NOT NULL AS is_task_known,
        tasks.expected_tools,
        tasks.original_tools,
        -- The prompt file decides about a prompt that it has.
        coalesce(tasks.can_ask_for_tools, true) AS can_ask_for_tools
    FROM scores.openclaw_answers AS answers
    JOIN scores.setups AS setups ON answers.setup = setups.setup
    LEFT JOIN tasks
        ON answers.run_id = tasks.run_id
        AND answers.prompt_key = tasks.prompt_key
)

SELECT
    suite,
    run_id,
    content_id AS result_id,
    provider,
    model,
    settings,
    thinking_level,
    series,
    is_replay,
    is_counted,
    is_answered,
    recorded_success,
    is_task_known,
    expected_tools,
    tools,
    CASE
        WHEN len(expected_tools) > 0
            THEN coalesce(success AND is_answered AND list_has_any(tools, expected_tools), false)
    END AS used_expected,
    CASE
        WHEN NOT is_task_known OR tools IS NULL THEN NULL
        WHEN coalesce(len(original_tools), 0) = 0 THEN len(tools) > 0
        ELSE list_has_any(tools, original_tools)
    END AS original_success,
    CASE
        WHEN NOT is_answered THEN NULL
        WHEN len(expected_tools) > 0 THEN 'expected'
        WHEN can_ask_for_tools AND has_tool_verdict THEN 'inferred'
    END AS tier_basis,
    CASE tier_basis
        WHEN 'expected' THEN used_expected
        WHEN 'inferred' THEN recorded_use
    END AS is_used
FROM calls
