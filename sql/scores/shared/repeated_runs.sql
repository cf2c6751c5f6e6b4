-- The runs that asked a model any task more than once, whose calls are not independent.
-- grain: run
-- inherits: scores.task_facts
SELECT DISTINCT suite, run_id
FROM scores.task_facts
WHERE n_results > 1
