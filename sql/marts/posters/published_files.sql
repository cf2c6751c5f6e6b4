-- The files of imported published report folders, byte by byte; of several versions, the newest.
-- grain: report × file
-- inherits: published, lake.files
-- name: name of the file in the folder
-- content: the bytes, masked if imported with `--redact`; NULL above the size limit
WITH named AS (
    SELECT suite, report, published_at, substr(metric, len('file ') + 1) AS name, text AS sha256, batch
    FROM published
    WHERE seq = 0 AND model = '' AND starts_with(metric, 'file ')
    QUALIFY rank() OVER (PARTITION BY suite, report ORDER BY batch DESC, file_sha256) = 1
),

kept AS (
    SELECT sha256, size_bytes, content
    FROM lake.files
    QUALIFY row_number() OVER (PARTITION BY sha256 ORDER BY batch, content_id) = 1
)

SELECT
    named.suite,
    named.report,
    named.published_at,
    named.name,
    kept.size_bytes,
    named.sha256,
    kept.content,
    named.batch
FROM named
LEFT JOIN kept USING (sha256)
ORDER BY named.suite, named.report, named.name
