-- The pairs of events behind each score, field by field, and the events without a partner.
-- grain: run × model × poster × assignment × pair
-- inherits: scores.poster_event_pairs
WITH replays AS (
    SELECT run_id, model
    FROM scores.replayed_models
    WHERE suite = 'posters'
)

SELECT
    suite,
    run_id,
    model,
    task_id,
    assignment,
    gold_index,
    predicted_index,
    similarity,
    core_similarity,
    date,
    time,
    venue,
    city,
    province,
    country,
    event_name,
    ticket_info,
    status,
    gold_event,
    predicted_event
FROM scores.poster_event_pairs
ANTI JOIN replays USING (run_id, model)
ORDER BY run_id, model, task_id, assignment DESC, gold_index NULLS LAST, predicted_index
