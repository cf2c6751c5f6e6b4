-- How many of several attempts at an item passed, where eval-arena says no more than that of them.
-- grain: eval-arena result with several attempts
-- inherits: scores.resolved_results
-- n_passed: attempts that passed
-- n_attempts: attempts, two or more
SELECT
    entry,
    task_id,
    CAST((extra ->> '$.correct') AS BIGINT) AS n_passed,
    CAST((extra ->> '$.count') AS BIGINT) AS n_attempts
FROM scores.resolved_results
WHERE suite = 'eval-arena'
    AND NOT is_replay
    AND duplicate_of IS NULL
    AND CAST((extra ->> '$.count') AS BIGINT) > 1
