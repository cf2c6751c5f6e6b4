-- The clusters that logs of Inspect name by the standard errors that they report, as in
-- `stderr(cluster="passage")`: the key of a sample's metadata.
-- grain: suite × task set × task
-- inherits: scores.task_clusters
SELECT
    calls.suite,
    setups.task_set,
    calls.task_id,
    min(task_number(
        calls.suite, setups.task_set, group_name(json_extract(calls.extra, fields.field))
    )) AS cluster
FROM (
    SELECT DISTINCT suite, run_id, reducer_parameters ->> '$.cluster' AS field
    FROM lake.reported_metrics
    WHERE suite = 'inspect' AND field IS NOT NULL
) AS fields
JOIN lake.results AS calls
    ON fields.suite = calls.suite
    AND fields.run_id = calls.run_id
JOIN scores.setups AS setups ON calls.setup = setups.setup
WHERE json_extract(calls.extra, fields.field) IS NOT NULL
GROUP BY calls.suite, setups.task_set, calls.task_id
