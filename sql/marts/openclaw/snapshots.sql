-- The snapshots of the system's resources.
-- grain: snapshot
-- inherits: lake.resources
-- invocation: invocation of the run that made it, from 1; counted where it is not recorded
-- is_latest: whether it is the latest of its name, which is the one that exports write
-- size_bytes: size of the text, bytes
-- snapshot_id: id of the snapshot
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
