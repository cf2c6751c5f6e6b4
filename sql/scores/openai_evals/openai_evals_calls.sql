-- The model calls of an openai/evals sample after its first, which is its result: other steps, and
-- the calls of a judge.
-- grain: sampling event after the first of its sample
-- inherits: lake.events
-- task_id: id of the sample
-- input_tokens: number of tokens in the prompt
-- output_tokens: number of tokens in the answer
-- total_tokens: number of tokens, as recorded
SELECT
    suite,
    run_id,
    seq,
    tag AS task_id,
    try_cast(document ->> '$.data.usage.prompt_tokens' AS BIGINT) AS input_tokens,
    try_cast(document ->> '$.data.usage.completion_tokens' AS BIGINT) AS output_tokens,
    try_cast(document ->> '$.data.usage.total_tokens' AS BIGINT) AS total_tokens
FROM lake.events
WHERE suite = 'openai_evals' AND event = 'sampling'
