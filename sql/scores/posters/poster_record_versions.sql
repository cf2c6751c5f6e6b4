-- All records that are or were the ground truth of a poster, in their order of precedence.
-- grain: record
-- inherits: lake.annotations, scores.poster_records
-- since: when the record was made; where that is not known, when it was added to the store, UTC
-- precedence: 1 for an adjudicated record, 2 for a declared one, 3 for a model's
SELECT
    records.task_set,
    records.task_id,
    records.content_id,
    coalesce(records.source, records.document) AS gold,
    CASE WHEN len(checked.problems) > 0 THEN 'silver' ELSE records.label END AS label,
    CASE WHEN len(checked.problems) > 0 THEN NULL ELSE records.label_basis END AS label_basis,
    checked.problems,
    coalesce(records.annotated_at, batches.created_at) AS since,
    CASE records.kind WHEN 'adjudicated' THEN 1 WHEN 'declared' THEN 2 ELSE 3 END AS precedence,
    records.batch
FROM lake.annotations AS records
JOIN lake.batches AS batches ON records.batch = batches.batch
LEFT JOIN scores.gold_problems AS checked ON records.content_id = checked.content_id
WHERE records.suite = 'posters' AND json_type(records.document) = 'OBJECT'
    AND (
        records.kind IN ('declared', 'model')
        OR (records.kind = 'adjudicated' AND records.label = 'gold')
    )
