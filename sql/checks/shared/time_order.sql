-- Impossible times: an end before its start, or a call made after it entered the store.
-- severity: critical
-- grain: row × reason
-- table_name: table of the lake that the row is in
-- started_at: start of the run or the call, or time of the annotation, UTC
-- ended_at: end of the run or the call, UTC
-- reason: what is out of order; one day is allowed for clocks that differ
WITH found AS (
    -- A query for each reason: conditions on one column reach the scans, which read the rest of few.
    SELECT
        'runs' AS table_name,
        suite,
        run_id,
        content_id,
        started_at,
        ended_at,
        'ended before it started' AS reason
    FROM lake.runs
    WHERE ended_at < started_at
    UNION ALL
    SELECT 'results', suite, run_id, content_id, started_at, ended_at, 'ended before it started'
    FROM lake.results
    WHERE ended_at IS NOT NULL AND ended_at < started_at
    UNION ALL
    SELECT 'runs', suite, run_id, content_id, started_at, ended_at, 'later than its import'
    FROM lake.runs
    JOIN lake.batches USING (batch)
    WHERE coalesce(ended_at, started_at) > created_at + INTERVAL 1 DAY
    UNION ALL
    SELECT 'results', suite, run_id, content_id, started_at, ended_at, 'later than its import'
    FROM lake.results
    JOIN lake.batches USING (batch)
    WHERE coalesce(ended_at, started_at) > created_at + INTERVAL 1 DAY
    UNION ALL
    SELECT 'annotations', suite, NULL, content_id, annotated_at, NULL, 'later than its import'
    FROM lake.annotations
    JOIN lake.batches USING (batch)
    WHERE annotated_at > created_at + INTERVAL 1 DAY
)

SELECT
    table_name,
    suite,
    run_id,
    content_id,
    started_at,
    ended_at,
    reason
FROM found
ORDER BY ALL
