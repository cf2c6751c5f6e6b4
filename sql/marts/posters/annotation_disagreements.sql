-- Where two annotators' records of a poster differ, to be adjudicated.
-- grain: dataset × poster × pair of annotators × field
-- inherits: lake.annotations
-- first: task_id, field, value_a, value_b, annotator_a, annotator_b
-- field: artist_name, or events[2].venue with the event's index in the first record; an event that
--     only one record has is events[2]
-- value_a: value in the first record; NULL if it has none
-- value_b: value in the second record; NULL if it has none
-- is_adjudicated: whether a third record already settles the poster
WITH adjudicated AS (
    SELECT DISTINCT suite, task_set, task_id
    FROM lake.annotations
    WHERE kind = 'adjudicated'
),

fields AS (
    SELECT suite, task_set, task_id, annotator_a, annotator_b, unnest(differences) AS difference
    FROM scores.annotation_pairs
)

SELECT
    fields.suite,
    fields.task_set,
    fields.task_id,
    fields.annotator_a,
    fields.annotator_b,
    fields.difference.field AS field,
    fields.difference.value_a AS value_a,
    fields.difference.value_b AS value_b,
    adjudicated.task_id IS NOT NULL AS is_adjudicated
FROM fields
LEFT JOIN adjudicated
    ON fields.suite = adjudicated.suite
    AND fields.task_set = adjudicated.task_set
    AND fields.task_id = adjudicated.task_id
ORDER BY suite, task_set, task_id, annotator_a, annotator_b, field
