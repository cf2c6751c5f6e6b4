-- Every text of every result: its prompt, its answer, its messages, the steps of a trial with what
-- tools were given and returned. `evalstore grep` searches it.
-- grain: result × part × position
-- inherits: results
-- first: run_id, result_id, part, seq, who, text
-- part: prompt, answer, message, tool call (its arguments), step, reasoning or error
-- seq: position of the message in the conversation, or of the step in the trial; NULL for the prompt
--     and the answer
-- who: role of the message, tool, agent or kind of the step
-- text: the text; of a message without one its parts, as JSON
SELECT
    suite,
    run_id,
    content_id AS result_id,
    'prompt' AS part,
    NULL::BIGINT AS seq,
    NULL AS who,
    nullif(prompt, '') AS text
FROM lake.results
WHERE text IS NOT NULL AND NOT is_replaced
UNION ALL
SELECT
    suite,
    run_id,
    content_id AS result_id,
    'answer' AS part,
    NULL::BIGINT AS seq,
    NULL AS who,
    nullif(coalesce(raw_output, answer), '') AS text
FROM lake.results
WHERE text IS NOT NULL AND NOT is_replaced
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    'message' AS part,
    seq,
    role AS who,
    coalesce(nullif(text, ''), parts) AS text
FROM lake.messages
WHERE coalesce(nullif(text, ''), parts) IS NOT NULL
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    'tool call' AS part,
    seq,
    role AS who,
    tool_calls AS text
FROM lake.messages
WHERE tool_calls IS NOT NULL
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    'step' AS part,
    seq,
    coalesce(name, agent, kind) AS who,
    text
FROM steps
WHERE nullif(text, '') IS NOT NULL
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    'tool call' AS part,
    seq,
    name AS who,
    arguments AS text
FROM steps
WHERE arguments IS NOT NULL
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    'reasoning' AS part,
    seq,
    coalesce(agent, kind) AS who,
    reasoning AS text
FROM steps
WHERE nullif(reasoning, '') IS NOT NULL
UNION ALL
SELECT
    suite,
    run_id,
    result_id,
    'error' AS part,
    seq,
    coalesce(name, kind) AS who,
    error AS text
FROM steps
WHERE nullif(error, '') IS NOT NULL
