-- The pairs of events that each prediction's scores come from, and the events without a partner.
-- grain: posters run × model × poster × assignment × pair
-- materialised
-- suite: posters
-- key: suite, run_id, model, task_id
-- inputs: poster_score_inputs
WITH pairs AS (
    SELECT
        suite,
        run_id,
        model,
        task_id,
        unnest(poster_pairs(gold, prediction)) AS pair
    FROM inputs
)

SELECT
    suite,
    run_id,
    model,
    task_id,
    pair.assignment AS assignment,
    pair.gold_index AS gold_index,
    pair.predicted_index AS predicted_index,
    pair.similarity AS similarity,
    pair.core_similarity AS core_similarity,
    pair.date AS date,
    pair.time AS time,
    pair.venue AS venue,
    pair.city AS city,
    pair.province AS province,
    pair.country AS country,
    pair.event_name AS event_name,
    pair.ticket_info AS ticket_info,
    pair.status AS status,
    pair.gold_event AS gold_event,
    pair.predicted_event AS predicted_event
FROM pairs
