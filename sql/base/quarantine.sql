-- What could not be used, and why.
-- grain: record or file
-- raw_bytes: size of what was kept of it; the bytes themselves are in lake.quarantine
SELECT
    content_id AS quarantine_id,
    path,
    line,
    byte_offset,
    reason,
    octet_length(raw) AS raw_bytes,
    sha256,
    batch
FROM lake.quarantine
