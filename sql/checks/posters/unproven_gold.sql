-- Gold records that are neither proven by two people and an adjudication nor declared by an import.
-- severity: critical
-- grain: record
-- inherits: annotations
-- n_annotators: people whose records of the same poster it settles; two are needed
WITH settled AS (
    SELECT annotations.content_id, count(DISTINCT people.annotator) AS n_annotators
    FROM lake.annotations
    JOIN lake.annotations AS people
        ON list_contains(annotations.adjudicates, people.content_id)
        AND annotations.task_set = people.task_set
        AND annotations.task_id = people.task_id
    WHERE annotations.label = 'gold' AND people.kind = 'human'
    GROUP BY annotations.content_id
)

SELECT
    annotations.suite,
    annotations.task_set,
    annotations.task_id,
    annotations.annotator,
    annotations.kind,
    annotations.label_basis,
    coalesce(settled.n_annotators, 0) AS n_annotators,
    annotations.content_id AS annotation_id
FROM lake.annotations
LEFT JOIN settled USING (content_id)
WHERE annotations.label = 'gold'
    AND NOT coalesce(
        (annotations.kind = 'declared' AND annotations.label_basis = 'declared')
        OR (
            annotations.kind = 'adjudicated'
            AND annotations.label_basis = 'proven'
            AND settled.n_annotators >= 2
        ),
        false
    )
ORDER BY annotations.suite, annotations.task_set, annotations.task_id, annotations.content_id
