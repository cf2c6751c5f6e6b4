-- The imported files.
-- grain: file, by content
SELECT
    path,
    format,
    size_bytes,
    sha256,
    content,
    batch
FROM lake.files
