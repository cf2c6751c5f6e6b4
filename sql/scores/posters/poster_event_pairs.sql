-- The pairs of events behind each prediction's scores, and the events without a partner.
-- grain: posters run × model × poster × assignment × pair
-- materialised
-- suite: posters
-- key: suite, run_id, model, task_id
-- inputs: poster_score_inputs
-- assignment: full (by all fields) or core (by date, venue, city, province and country)
-- gold_index: index of the gold event, from 0; NULL if the predicted event has no partner
-- predicted_index: index of the predicted event, from 0; NULL if the gold event has no partner
-- similarity: similarity of the pair by the weights of all fields, 0 to 1
-- core_similarity: similarity of the pair by the weights of the core fields, 0 to 1
-- date, time, venue, city, province, country, event_name, ticket_info, status: similarity of the
--     two events in this field, 0 to 1
-- gold_event: the gold event, JSON
-- predicted_event: the predicted event, JSON
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
