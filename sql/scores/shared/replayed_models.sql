-- The models whose answers came from a file in a run: no figure counts them.
-- grain: run × model
SELECT DISTINCT
    suite,
    run_id,
    model
FROM results
WHERE is_replay
