-- The texts kept with a run or a result, byte for byte: notes, reports, OCR, repaired records.
-- grain: text
-- inherits: lake.artifacts
-- artifact_id: id of the text
SELECT
    suite,
    run_id,
    model,
    task_id,
    kind,
    name,
    content,
    content_id AS artifact_id,
    file_sha256,
    batch
FROM lake.artifacts
