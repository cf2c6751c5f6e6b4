-- How two people's records of a poster compare.
-- grain: dataset × poster × pair of annotators
-- materialised
-- suite: posters
-- key: suite, run_id, task_set, task_id, annotator_a, annotator_b
-- inputs: annotation_pair_inputs
SELECT
    suite,
    run_id,
    task_set,
    task_id,
    annotator_a,
    annotator_b,
    unnest(annotation_agreement(record_a, record_b))
FROM inputs
