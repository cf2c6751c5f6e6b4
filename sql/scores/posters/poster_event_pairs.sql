-- The pairs of events that each prediction's scores come from, and the events without a partner.
-- grain: posters run × model × poster × assignment × pair
-- materialised
-- suite: posters
-- key: suite, run_id, model, task_id
-- inputs: poster_score_inputs
SELECT
    suite,
    run_id,
    model,
    task_id,
    unnest(poster_pairs(gold, prediction), recursive := true)
FROM inputs
