-- What could not be used, and why.
-- grain: record or file
SELECT
    content_id AS quarantine_id,
    path,
    line,
    byte_offset,
    reason,
    raw,
    sha256,
    batch
FROM lake.quarantine
