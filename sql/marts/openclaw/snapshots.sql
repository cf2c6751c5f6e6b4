-- The snapshots of the system's resources.
-- grain: snapshot
-- invocation: which invocation of the run made it, from 1; counted where it is not recorded
-- is_latest: the latest of its name, which exports write
-- content: the file, byte for byte
-- size_bytes: of the content
SELECT
    suite,
    run_id,
    name,
    tag,
    phase,
    coalesce(
        invocation, row_number() OVER (PARTITION BY suite, run_id, name ORDER BY batch, content_id)
    ) AS invocation,
    row_number() OVER (
        PARTITION BY suite, run_id, name ORDER BY invocation DESC, batch DESC, content_id DESC
    ) = 1 AS is_latest,
    parsed,
    content,
    octet_length(content) AS size_bytes,
    content_id AS snapshot_id,
    file_sha256,
    batch
FROM lake.resources
