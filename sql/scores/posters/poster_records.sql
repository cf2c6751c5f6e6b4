-- The ground truth of each poster. A proven record takes precedence over a declared one, both over a
-- model's; then the newest.
-- grain: dataset × poster
-- inherits: lake.annotations
-- gold: text of the record
-- label: gold if two people annotated the poster and a third record settled it, or if so declared,
--     and if the record follows the schema; else silver
-- label_basis: proven or declared; NULL for silver
-- problems: where a record that was labelled gold breaks the schema; NULL for other records
SELECT
    task_set,
    task_id,
    content_id,
    gold,
    label,
    label_basis,
    problems
FROM scores.poster_record_versions
QUALIFY row_number() OVER (
    PARTITION BY task_set, task_id ORDER BY precedence, batch DESC, content_id
) = 1
