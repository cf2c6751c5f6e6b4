-- The events that a harness logged between its results.
-- grain: event
-- seq: order in the source, among the results
-- tag: the part of the run that it belongs to
-- document: the whole record as JSON, keys in their order
-- source: the record's own text; NULL where `document` reproduces it
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
