-- The model calls of an openai/evals sample after its first, which is its result: other steps, and
-- the calls of a judge.
-- grain: sampling event after the first of its sample
-- inherits: lake.events
-- task_id: id of the sample
-- document: the event
SELECT
    suite,
    run_id,
    seq,
    tag AS task_id,
    document
FROM lake.events
WHERE suite = 'openai_evals' AND event = 'sampling'
