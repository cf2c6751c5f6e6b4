-- The inputs of openclaw_answer_tools: the text of each answer.
-- grain: openclaw result with a text
-- inherits: lake.results
SELECT
    suite,
    run_id,
    content_id,
    raw_output
FROM lake.results
WHERE suite = 'openclaw' AND raw_output IS NOT NULL
