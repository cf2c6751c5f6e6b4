-- What the attempts at each task in each run came to, by each metric. A verdict is counted, any other
-- score is listed; scored_tasks has both as lists.
-- Scores count where they are recorded; see verdict_attempts and recorded_attempts.
-- grain: run × provider × model × settings × task set × scorer × metric × filter × task
-- inherits: scores.recorded_attempts, results, scores.task_facts, scores.setups
-- n_passed: attempts that passed, by the verdict; NULL for any other score
-- first_passed: whether the first attempt passed, by the verdict
-- listed: scores of the attempts that have a number, in order; NULL for the verdict
FROM scores.verdict_attempts
UNION ALL
SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    scorer,
    metric,
    filter,
    task_id,
    n_attempts,
    NULL AS n_passed,
    NULL AS first_passed,
    listed,
    entry,
    series,
    task
FROM scores.recorded_attempts
