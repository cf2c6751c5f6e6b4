-- The inputs of palindrome_verdicts: each answer and the right answer.
-- grain: palindrome result whose task is known
-- inherits: lake.results
-- reference: right answer of the task's version if the result names it, else of the task with that
--     prompt
WITH references_by_prompt AS (
    SELECT prompt, arg_min(reference, content_id) AS reference
    FROM lake.tasks
    WHERE suite = 'palindrome' AND reference IS NOT NULL
    GROUP BY prompt
),

references_by_version AS (
    SELECT task_hash, any_value(reference) AS reference
    FROM lake.tasks
    WHERE suite = 'palindrome' AND reference IS NOT NULL
    GROUP BY task_hash
)

SELECT
    calls.suite,
    calls.run_id,
    calls.content_id,
    calls.answer,
    coalesce(by_version.reference, by_prompt.reference) AS reference
FROM lake.results AS calls
LEFT JOIN references_by_version AS by_version ON calls.task_hash = by_version.task_hash
LEFT JOIN references_by_prompt AS by_prompt ON calls.prompt = by_prompt.prompt
WHERE calls.suite = 'palindrome'
    AND coalesce(by_version.reference, by_prompt.reference) IS NOT NULL
