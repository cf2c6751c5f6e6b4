-- How two people's records of a poster compare.
-- grain: dataset × poster × pair of annotators
-- materialised
-- suite: posters
-- key: suite, run_id, task_set, task_id, annotator_a, annotator_b
-- inputs: annotation_pair_inputs
-- inherits: scores.annotation_pair_inputs
-- events_a: number of events in the first record
-- events_b: number of events in the second record
-- dates_equal: aligned events with equal dates
-- venues_equal: aligned events with equal venues
-- differences: fields that differ, with both values
WITH compared AS (
    SELECT
        suite,
        run_id,
        task_set,
        task_id,
        annotator_a,
        annotator_b,
        annotation_agreement(record_a, record_b) AS agreement
    FROM inputs
)

SELECT
    suite,
    run_id,
    task_set,
    task_id,
    annotator_a,
    annotator_b,
    agreement.events_a AS events_a,
    agreement.events_b AS events_b,
    agreement.dates_equal AS dates_equal,
    agreement.venues_equal AS venues_equal,
    agreement.differences AS differences
FROM compared
