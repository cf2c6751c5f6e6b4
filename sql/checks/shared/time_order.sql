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
),

-- Read once: a copy of all rows would take most of the time.
checked AS (
    SELECT
        spans.*,
        ended_at < started_at AS is_reversed,
        coalesce(ended_at, started_at) > created_at + INTERVAL 1 DAY AS is_late
    FROM spans
    LEFT JOIN lake.batches USING (batch)
),

found AS (
    SELECT
        *,
        unnest([
            CASE WHEN is_reversed THEN 'ended before it started' END,
            CASE WHEN is_late THEN 'later than its import' END
        ]) AS reason
    FROM checked
    WHERE is_reversed OR is_late
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
WHERE reason IS NOT NULL
ORDER BY ALL
