-- The tools that openclaw answers invoke, by the original program's five patterns.
-- grain: openclaw result with a text
-- materialised
-- suite: openclaw
-- key: suite, run_id, content_id
-- inputs: openclaw_tool_inputs
-- tools: tools in lower case, without repetitions
SELECT
    suite,
    run_id,
    content_id,
    openclaw_tools(raw_output) AS tools
FROM inputs
