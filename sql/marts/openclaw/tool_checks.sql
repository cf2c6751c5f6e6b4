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
SELECT
    calls.run_id,
    calls.result_id,
    calls.seq,
    calls.provider,
    calls.model,
    calls.settings,
    calls.thinking_level,
    calls.task_id,
    calls.task_name,
    calls.availability_status,
    calls.success,
    found.is_task_known,
    found.expected_tools,
    calls.tool_calls AS recorded_tools,
    calls.tool_use_success AS recorded_success,
    found.tools,
    found.used_expected,
    found.original_success,
    found.tier_basis,
    found.is_used,
    calls.is_replay,
    calls.duplicate_of
FROM results AS calls
JOIN scores.openclaw_tool_use AS found
    ON calls.run_id = found.run_id
    AND calls.result_id = found.result_id
WHERE calls.suite = 'openclaw'
