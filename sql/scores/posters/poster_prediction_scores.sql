-- Every sub-score of every prediction, equal to the original program's to the last bit.
-- grain: posters run × model × poster
-- materialised
-- suite: posters
-- key: suite, run_id, model, task_id
-- inputs: poster_score_inputs
SELECT
    suite,
    run_id,
    model,
    task_id,
    seq,
    label,
    output_state,
    unnest(poster_score(gold, prediction))
FROM inputs
