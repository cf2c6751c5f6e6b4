-- The inputs of annotation_pairs: posters that two people annotated, with their newest records.
-- grain: dataset × poster × pair of annotators
-- inherits: lake.annotations
-- run_id: empty: a record belongs to no run
-- record_a: record of the first annotator, JSON text
-- record_b: record of the second annotator, JSON text
WITH newest AS (
    SELECT suite, task_set, task_id, annotator, coalesce(source, document) AS record
    FROM lake.annotations
    WHERE kind = 'human' AND annotator IS NOT NULL AND document IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY suite, task_set, task_id, annotator ORDER BY batch DESC, content_id
    ) = 1
)

SELECT
    a.suite,
    '' AS run_id,
    a.task_set,
    a.task_id,
    a.annotator AS annotator_a,
    b.annotator AS annotator_b,
    a.record AS record_a,
    b.record AS record_b
FROM newest AS a
JOIN newest AS b
    ON a.suite = b.suite
    AND a.task_set = b.task_set
    AND a.task_id = b.task_id
    AND a.annotator < b.annotator
