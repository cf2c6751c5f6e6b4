-- Where each gold record breaks the JSON Schema, so that it counts as silver.
-- grain: record
-- materialised
-- suite: posters
-- key: suite, run_id, content_id
-- inputs: gold_problem_inputs
-- inherits: scores.gold_problem_inputs
-- problems: fields that break the schema, with the reason of each; empty if none does
SELECT suite, run_id, content_id, schema_problems(record) AS problems
FROM inputs
