-- The imported files.
-- grain: file, by content
-- inherits: lake.files
-- is_kept: whether lake.files has the bytes
SELECT
    path,
    format,
    size_bytes,
    sha256,
    content IS NOT NULL AS is_kept,
    batch
FROM lake.files
