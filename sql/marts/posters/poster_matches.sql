-- The pairs of events behind each score, field by field, and the events without a partner.
-- grain: run × model × poster × assignment × pair
-- inherits: scores.poster_event_pairs
SELECT * EXCLUDE (input_hash)
FROM scores.poster_event_pairs
ANTI JOIN scores.replayed_models USING (suite, run_id, model)
ORDER BY run_id, model, task_id, assignment DESC, gold_index NULLS LAST, predicted_index
