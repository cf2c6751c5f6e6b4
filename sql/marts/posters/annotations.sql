-- What people, adjudications and models wrote down of each poster.
-- grain: record
-- kind: human, adjudicated, declared (settled elsewhere, as an import says) or model
-- label: gold or silver; NULL for a person's record, which is neither until it is adjudicated
-- label_basis: proven in the store, or declared at the import
-- is_current: the newest of its annotator and kind for the poster
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
