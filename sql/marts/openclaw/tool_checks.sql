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
-- tier_basis: which answered calls count for the model's tier in the run: `expected`, those whose
--     prompt expects a tool, by the tools found; `recorded`, if no prompt is known, all with a
--     recorded verdict
-- is_used: whether a tool was used, on that basis; NULL if the call does not count
WITH tasks AS (
    SELECT
        *,
        -- What is no list expects nothing.
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
        max(is_task_known AND results.availability_status = 'ok') OVER (
            PARTITION BY results.run_id, provider, model, settings
        ) AS is_group_known
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
        WHEN availability_status = 'ok' THEN if(is_group_known, 'expected', 'recorded')
    END AS tier_basis,
    CASE tier_basis WHEN 'expected' THEN used_expected WHEN 'recorded' THEN tool_use_success
    END AS is_used,
    duplicate_of
FROM calls
