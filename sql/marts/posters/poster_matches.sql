-- Why a score is what it is: each pair of events, field by field, and events without a partner.
-- grain: run × model × poster × assignment × pair
-- assignment: full (all fields) or core (date, venue, city, province, country)
-- gold_index, predicted_index: from 0; NULL on the side that has no partner
-- similarity, core_similarity: by the weights of all fields and of the core fields
-- date, time, venue, city, province, country, event_name, ticket_info, status: the field's score
-- gold_event, predicted_event: JSON
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
ORDER BY run_id, model, task_id, assignment DESC, gold_index NULLS LAST, predicted_index
