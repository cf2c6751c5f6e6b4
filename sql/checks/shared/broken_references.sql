-- Rows that refer to something that the store does not have.
-- severity: critical
-- grain: row × reference
-- table_name: table of the lake that the row is in
-- refers_to: kind of the missing thing: batch, run, file, or the result or annotation that the row
--     stands in for or settles
-- reference: id of the missing thing
WITH lake_rows AS (
    SELECT 'runs' AS table_name, suite, run_id, content_id, file_sha256, batch FROM lake.runs
    UNION ALL
    SELECT 'results', suite, run_id, content_id, file_sha256, batch FROM lake.results
    UNION ALL
    SELECT 'judgements', suite, run_id, content_id, file_sha256, batch FROM lake.judgements
    UNION ALL
    SELECT 'events', suite, run_id, content_id, file_sha256, batch FROM lake.events
    UNION ALL
    SELECT 'resources', suite, run_id, content_id, file_sha256, batch FROM lake.resources
    UNION ALL
    SELECT 'artifacts', suite, run_id, content_id, file_sha256, batch FROM lake.artifacts
    UNION ALL
    SELECT 'tasks', suite, NULL, content_id, file_sha256, batch FROM lake.tasks
    UNION ALL
    SELECT 'models', NULL, NULL, content_id, file_sha256, batch FROM lake.models
    UNION ALL
    SELECT 'annotations', suite, NULL, content_id, file_sha256, batch FROM lake.annotations
    UNION ALL
    SELECT 'published', suite, run_id, content_id, file_sha256, batch FROM lake.published
    UNION ALL
    SELECT 'violations', suite, run_id, content_id, sha256, batch FROM lake.violations
),

settled AS (
    SELECT suite, content_id, unnest(adjudicates) AS reference
    FROM lake.annotations
)

SELECT table_name, suite, run_id, content_id, 'run' AS refers_to, run_id AS reference
FROM lake_rows
ANTI JOIN lake.runs USING (suite, run_id)
WHERE table_name IN ('results', 'judgements', 'events', 'resources', 'artifacts')
UNION ALL
SELECT table_name, suite, run_id, content_id, 'batch' AS refers_to, batch AS reference
FROM lake_rows
ANTI JOIN lake.batches USING (batch)
UNION ALL
SELECT table_name, suite, run_id, content_id, 'file' AS refers_to, file_sha256 AS reference
FROM lake_rows
ANTI JOIN lake.files ON lake_rows.file_sha256 = files.sha256
WHERE file_sha256 IS NOT NULL
UNION ALL
SELECT 'results', suite, run_id, content_id, 'result' AS refers_to, stands_in_for AS reference
FROM lake.results
ANTI JOIN lake.results AS failures
    ON results.suite = failures.suite
    AND results.run_id = failures.run_id
    AND results.stands_in_for = failures.content_id
WHERE stands_in_for IS NOT NULL
UNION ALL
SELECT 'annotations', suite, NULL, content_id, 'annotation' AS refers_to, reference
FROM settled
ANTI JOIN lake.annotations AS records ON settled.reference = records.content_id
ORDER BY ALL
