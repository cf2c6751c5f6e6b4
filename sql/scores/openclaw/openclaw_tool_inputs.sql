-- What the tools found in an openclaw answer depend on: its text.
-- grain: openclaw result with a text
SELECT
    suite,
    run_id,
    content_id,
    raw_output
FROM lake.results
WHERE suite = 'openclaw' AND raw_output IS NOT NULL
