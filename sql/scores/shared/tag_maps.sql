-- The tags of the runs that have any, for `runs`.
-- refreshed
-- grain: run
-- inherits: run_tags
-- tags: values of the run's tags by name
SELECT
    suite,
    run_id,
    map(list(name ORDER BY name), list(value ORDER BY name)) AS tags
FROM run_tags
GROUP BY suite, run_id
