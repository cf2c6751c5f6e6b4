-- The ground truth of each poster. A proven record takes precedence over a declared one, both over a
-- model's; then the newest.
-- grain: dataset × poster
-- inherits: lake.annotations
-- gold: text of the record
-- label: gold if two people annotated the poster and a third record settled it, or if so declared,
--     and if the record follows the schema; else silver
-- label_basis: proven or declared; NULL for silver
-- problems: where a record that was labelled gold breaks the schema; NULL for other records
WITH records AS (
    SELECT task_set, task_id, content_id, coalesce(source, document) AS gold, label, label_basis
    FROM lake.annotations
    WHERE suite = 'posters' AND json_type(document) = 'OBJECT'
        AND (kind IN ('declared', 'model') OR (kind = 'adjudicated' AND label = 'gold'))
    QUALIFY row_number() OVER (
        PARTITION BY task_set, task_id
        ORDER BY
            CASE kind WHEN 'adjudicated' THEN 1 WHEN 'declared' THEN 2 ELSE 3 END,
            batch DESC,
            content_id
    ) = 1
)

SELECT
    records.task_set,
    records.task_id,
    records.content_id,
    records.gold,
    CASE WHEN len(checked.problems) > 0 THEN 'silver' ELSE records.label END AS label,
    CASE WHEN len(checked.problems) > 0 THEN NULL ELSE records.label_basis END AS label_basis,
    checked.problems
FROM records
LEFT JOIN scores.gold_problems AS checked ON records.content_id = checked.content_id
