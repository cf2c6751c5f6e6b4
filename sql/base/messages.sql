-- The messages of the conversations behind results, in logs that have them.
-- grain: result × message
-- inherits: lake.messages
-- first: run_id, result_id, seq, role, text, tool_calls
-- message_id: id of the message
SELECT
    suite,
    run_id,
    result_id,
    seq,
    role,
    text,
    parts,
    tool_calls,
    tool_call_id,
    error,
    trajectory,
    extra,
    content_id AS message_id,
    file_sha256,
    batch
FROM lake.messages
