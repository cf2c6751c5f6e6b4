-- Rows that refer to something that the store does not have.
-- severity: critical
-- grain: row × reference
-- table_name: table of the lake that the row is in
-- refers_to: kind of the missing thing: batch, run, file, the result that the row is about or stands
--     in for, or the annotation that it settles
-- reference: id of the missing thing
WITH origins AS (
    -- Once for many rows. A task that several runs share stays when the run and the file that it came
    -- with are forgotten.
    SELECT DISTINCT table_name, suite, run_id, file_sha256, batch
    FROM scores.lake_rows AS lake_rows
),

broken AS (
    SELECT *, 'run' AS refers_to, run_id AS reference
    FROM origins
    ANTI JOIN lake.runs USING (suite, run_id)
    WHERE table_name NOT IN ('runs', 'tasks', 'models', 'annotations', 'published', 'violations')
    UNION ALL
    SELECT *, 'batch', batch
    FROM origins
    ANTI JOIN lake.batches USING (batch)
    UNION ALL
    SELECT *, 'file', file_sha256
    FROM origins
    ANTI JOIN lake.files ON origins.file_sha256 = files.sha256
    WHERE file_sha256 IS NOT NULL AND table_name <> 'tasks'
),

of_results AS (
    SELECT 'results' AS table_name, suite, run_id, content_id, stands_in_for AS result_id
    FROM lake.results
    UNION ALL
    SELECT 'judgements', suite, run_id, content_id, result_id FROM lake.judgements
    UNION ALL
    SELECT 'result_scores', suite, run_id, content_id, result_id FROM lake.result_scores
    UNION ALL
    SELECT 'messages', suite, run_id, content_id, result_id FROM lake.messages
    UNION ALL
    SELECT
        'ratings', coalesce(rated_suite, suite), coalesce(rated_run_id, run_id), content_id, result_id
    FROM lake.ratings
    UNION ALL
    SELECT 'preferences', coalesce(suite_a, suite), coalesce(run_id_a, run_id), content_id, result_a
    FROM lake.preferences
    UNION ALL
    SELECT 'preferences', coalesce(suite_b, suite), coalesce(run_id_b, run_id), content_id, result_b
    FROM lake.preferences
),

settled AS (
    SELECT suite, content_id, unnest(adjudicates) AS reference
    FROM lake.annotations
)

SELECT
    table_name,
    lake_rows.suite,
    lake_rows.run_id,
    lake_rows.content_id,
    broken.refers_to,
    broken.reference
FROM scores.lake_rows AS lake_rows
JOIN broken USING (table_name)
WHERE lake_rows.suite IS NOT DISTINCT FROM broken.suite
    AND lake_rows.run_id IS NOT DISTINCT FROM broken.run_id
    AND lake_rows.file_sha256 IS NOT DISTINCT FROM broken.file_sha256
    AND lake_rows.batch IS NOT DISTINCT FROM broken.batch
UNION ALL
SELECT table_name, suite, run_id, content_id, 'result' AS refers_to, result_id AS reference
FROM of_results
ANTI JOIN lake.results
    ON of_results.suite = results.suite
    AND of_results.run_id = results.run_id
    AND of_results.result_id = results.content_id
WHERE result_id IS NOT NULL
UNION ALL
SELECT 'annotations', suite, NULL, content_id, 'annotation' AS refers_to, reference
FROM settled
ANTI JOIN lake.annotations AS records ON settled.reference = records.content_id
ORDER BY ALL
