-- Impossible times: an end before its start, or a call made after it entered the store.
-- severity: critical
-- grain: row × reason
-- table_name: table of the lake that the row is in
-- started_at: start of the run or the call, or time of the annotation, UTC
-- ended_at: end of the run or the call, UTC
-- reason: what is out of order; one day is allowed for clocks that differ
WITH spans AS (
    SELECT 'runs' AS table_name, suite, run_id, content_id, started_at, ended_at, batch
    FROM lake.runs
    UNION ALL
    SELECT 'results', suite, run_id, content_id, started_at, ended_at, batch
    FROM lake.results
    UNION ALL
    SELECT 'annotations', suite, NULL, content_id, annotated_at, NULL, batch
    FROM lake.annotations
)

SELECT
    table_name,
    suite,
    run_id,
    content_id,
    started_at,
    ended_at,
    'ended before it started' AS reason
FROM spans
WHERE ended_at < started_at
UNION ALL
SELECT
    table_name,
    suite,
    run_id,
    content_id,
    started_at,
    ended_at,
    'later than its import' AS reason
FROM spans
JOIN lake.batches USING (batch)
WHERE coalesce(ended_at, started_at) > created_at + INTERVAL 1 DAY
ORDER BY ALL
