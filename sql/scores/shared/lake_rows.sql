-- The rows of the tables of the lake: what each came with.
-- grain: row of the lake
-- inherits: lake.results
-- table_name: table of the lake that the row is in
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
