-- The inputs of gold_problems: the records that are labelled gold.
-- grain: record
-- inherits: lake.annotations
-- run_id: empty: a record belongs to no run
-- record: text of the record
SELECT suite, '' AS run_id, content_id, coalesce(source, document) AS record
FROM lake.annotations
WHERE suite = 'posters' AND label = 'gold' AND document IS NOT NULL
