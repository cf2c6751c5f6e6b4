-- The model calls that count: made for real, and each once though several runs may hold it.
-- grain: result that counts
-- inherits: results
SELECT * EXCLUDE (is_replay, scorer, n_draws, duplicate_of)
FROM results
WHERE duplicate_of IS NULL AND NOT is_replay
