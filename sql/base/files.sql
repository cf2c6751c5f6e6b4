-- The imported files.
-- grain: file, by content
-- is_kept: its bytes are in lake.files
SELECT
    path,
    format,
    size_bytes,
    sha256,
    content IS NOT NULL AS is_kept,
    batch
FROM lake.files
