-- The tags of runs that are set now: what `evalstore tag` changed last. Join it with any view by suite and
-- run_id.
-- grain: run × tag
-- inherits: lake.tags
-- first: run_id, name, value
-- value: its value
WITH replaced AS (
    SELECT DISTINCT unnest(replaces) AS content_id
    FROM lake.tags
),

-- More than one only where processes changed a tag at the same time, or stores were merged.
latest AS (
    SELECT
        suite,
        run_id,
        name,
        value,
        tagged_at,
        batch,
        row_number() OVER (
            PARTITION BY suite, run_id, name
            ORDER BY tagged_at DESC, content_id DESC
        ) AS place
    FROM lake.tags
    ANTI JOIN replaced USING (content_id)
)

SELECT
    suite,
    run_id,
    name,
    value,
    tagged_at,
    batch
FROM latest
WHERE place = 1 AND value IS NOT NULL
ORDER BY suite, run_id, name
