-- Records and files that could not be used, and why.
-- grain: record or file
-- inherits: lake.quarantine
-- quarantine_id: id of the entry
-- raw_bytes: size of the kept part, bytes; the bytes are in lake.quarantine
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
