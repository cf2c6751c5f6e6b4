-- Ground truth labelled gold that breaks the JSON Schema. It counts as silver; no score changes.
-- severity: warning
-- grain: record × field
-- inherits: annotations
-- field: as a path, events[2].status; `record` for the whole
-- reason: what is wrong with the field
WITH problems AS (
    SELECT content_id, unnest(problems) AS problem
    FROM scores.poster_records
)

SELECT
    annotations.suite,
    annotations.task_set,
    annotations.task_id,
    annotations.annotator,
    annotations.kind,
    problems.problem.field AS field,
    problems.problem.reason AS reason,
    annotations.content_id AS annotation_id
FROM problems
JOIN lake.annotations USING (content_id)
ORDER BY ALL
