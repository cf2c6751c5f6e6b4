-- The entries of runs that asked a model any task more than once, whose calls are not independent.
-- grain: run × provider × model × settings × task set × is_replay
-- inherits: scores.task_facts, scores.setups
SELECT
    entry,
    run_id,
    series
FROM scores.entries
SEMI JOIN (SELECT suite, run_id FROM scores.task_facts WHERE n_results > 1) AS repeating
    USING (suite, run_id)
