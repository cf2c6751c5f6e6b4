-- The inputs of own_verdicts: the text of each answer and the rule of its task.
-- grain: answered result of a user's own suite, whose task has a rule that can be computed
-- inherits: lake.results, lake.tasks
WITH rules AS (
    SELECT
        suite,
        task_id,
        task_hash,
        min(scorer) AS scorer,
        min(reference) AS reference
    FROM lake.tasks
    -- What a user's function or a model decides is recorded only.
    WHERE json_extract_string(scorer, '$.type') NOT IN ('function', 'judge')
    GROUP BY suite, task_id, task_hash
)

SELECT
    calls.suite,
    calls.run_id,
    calls.content_id,
    calls.raw_output,
    rules.scorer,
    rules.reference
FROM lake.results AS calls
JOIN rules
    ON calls.suite = rules.suite
    AND calls.task_id = rules.task_id
    AND calls.task_hash = rules.task_hash
WHERE calls.success
