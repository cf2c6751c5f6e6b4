-- The calls of tools in the conversations behind results, in logs that have conversations, with what
-- the tools answered.
-- grain: result × call of a tool
-- inherits: lake.messages
-- first: run_id, result_id, position, function, arguments, error, answer
-- position: position of the call among those of the conversation, from 1
-- seq: position of the message with the call in the conversation, from 1
-- call_id: id of the call, as recorded
-- function: name of the tool
-- arguments: arguments of the call, JSON; text that is not JSON as a JSON string
-- error: why the call could not be made, else the tool's error
-- answer_seq: position of the tool's message in the conversation; NULL if there is none
-- answer: text of the tool's message, the first with the id of the call after it
WITH calls AS (
    SELECT
        suite,
        run_id,
        result_id,
        seq,
        unnest(json_extract(tool_calls, '$[*]')) AS call,
        generate_subscripts(json_extract(tool_calls, '$[*]'), 1) AS place
    FROM messages
    WHERE tool_calls IS NOT NULL
),

placed AS (
    SELECT
        suite,
        run_id,
        result_id,
        seq,
        row_number() OVER (PARTITION BY suite, run_id, result_id ORDER BY seq, place) AS position,
        json_extract_string(call, '$.id') AS call_id,
        json_extract_string(call, '$.function') AS function,
        json_extract(call, '$.arguments') AS arguments,
        json_extract_string(call, '$.arguments') AS arguments_text,
        json_extract_string(call, '$.error') AS error
    FROM calls
),

answered AS (
    SELECT
        placed.*,
        answers.seq AS answer_seq,
        answers.text AS answer,
        answers.error AS answer_error
    FROM placed
    LEFT JOIN messages AS answers
        ON placed.suite = answers.suite
        AND placed.run_id = answers.run_id
        AND placed.result_id = answers.result_id
        AND placed.call_id = answers.tool_call_id
        AND placed.seq < answers.seq
    -- Some logs use an id again in a later turn.
    QUALIFY row_number() OVER (
        PARTITION BY placed.suite, placed.run_id, placed.result_id, placed.position
        ORDER BY answers.seq
    ) = 1
)

SELECT
    suite,
    run_id,
    result_id,
    position,
    seq,
    call_id,
    function,
    -- Many tools record the arguments as text that holds JSON.
    CASE
        WHEN json_type(arguments) = 'VARCHAR'
            AND starts_with(ltrim(arguments_text), '{')
            AND json_valid(arguments_text)
            THEN arguments_text
        ELSE CAST(arguments AS VARCHAR)
    END AS arguments,
    coalesce(error, answer_error) AS error,
    answer_seq,
    answer
FROM answered
ORDER BY suite, run_id, result_id, position
