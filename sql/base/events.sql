-- The events that a harness logged between its results.
-- grain: event
-- inherits: lake.events
-- event_id: id of the event
SELECT
    suite,
    run_id,
    seq,
    event,
    tag,
    document,
    source,
    content_id AS event_id,
    file_sha256,
    batch
FROM lake.events
