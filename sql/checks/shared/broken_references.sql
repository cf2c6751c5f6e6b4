-- Rows that refer to something that the store does not have.
-- severity: critical
-- grain: row × reference
-- table_name: table of the lake that the row is in
-- refers_to: kind of the missing thing: batch, run, file, the result that the row is about or stands
--     in for, or the annotation that it settles
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
    SELECT 'result_scores', suite, run_id, content_id, file_sha256, batch FROM lake.result_scores
    UNION ALL
    SELECT 'reported_metrics', suite, run_id, content_id, file_sha256, batch
    FROM lake.reported_metrics
    UNION ALL
    SELECT 'messages', suite, run_id, content_id, file_sha256, batch FROM lake.messages
    UNION ALL
    SELECT 'ratings', suite, run_id, content_id, file_sha256, batch FROM lake.ratings
    UNION ALL
    SELECT 'preferences', suite, run_id, content_id, file_sha256, batch FROM lake.preferences
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

-- Read once: a copy of all rows would take most of the time. A task that several runs share stays when
-- the run and the file that it came with are forgotten.
checked AS (
    SELECT
        *,
        table_name NOT IN ('runs', 'tasks', 'models', 'annotations', 'published', 'violations')
        AND NOT coalesce((suite, run_id) IN (SELECT (suite, run_id) FROM lake.runs), false)
            AS lacks_run,
        NOT coalesce(batch IN (SELECT batch FROM lake.batches), false) AS lacks_batch,
        file_sha256 IS NOT NULL
        AND table_name <> 'tasks'
        AND NOT coalesce(file_sha256 IN (SELECT sha256 FROM lake.files), false) AS lacks_file
    FROM lake_rows
),

broken AS (
    SELECT
        *,
        unnest([
            CASE WHEN lacks_run THEN 'run' END,
            CASE WHEN lacks_batch THEN 'batch' END,
            CASE WHEN lacks_file THEN 'file' END
        ]) AS refers_to,
        unnest([run_id, batch, file_sha256]) AS reference
    FROM checked
    WHERE lacks_run OR lacks_batch OR lacks_file
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

SELECT table_name, suite, run_id, content_id, refers_to, reference
FROM broken
WHERE refers_to IS NOT NULL
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
