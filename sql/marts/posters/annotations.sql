-- The records of people, adjudications and models for each poster.
-- grain: record
-- inherits: lake.annotations
-- annotation_id: id of the record
-- kind: human, adjudicated, returned (to the annotators, with the reason), declared (adjudicated
--     elsewhere, as an import says) or model
-- label: gold or silver; NULL for a person's record, which is neither until it is adjudicated
-- is_current: whether it is the newest of its annotator, kind and label for the poster
SELECT
    content_id AS annotation_id,
    suite,
    task_set,
    task_id,
    annotator,
    kind,
    label,
    label_basis,
    document,
    annotated_at,
    adjudicates,
    cost_usd,
    meta,
    raw_output,
    row_number() OVER (
        PARTITION BY suite, task_set, task_id, kind, annotator, label
        ORDER BY batch DESC, content_id
    ) = 1 AS is_current,
    extra,
    source,
    file_sha256,
    batch
FROM lake.annotations
