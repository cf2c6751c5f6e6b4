-- The seeds of each poster run.
-- grain: posters run
-- seed_values: JSON list of the seeds sent for ground truth, predictions and judgements, sorted
WITH calls AS (
    SELECT run_id, sent AS parameters
    FROM lake.results
    WHERE suite = 'posters'
    UNION ALL
    SELECT run_id, meta AS parameters
    FROM lake.judgements
    WHERE suite = 'posters'
    UNION ALL
    SELECT runs.run_id, records.meta AS parameters
    FROM scores.poster_run_setups AS runs
    JOIN lake.annotations AS records USING (suite, task_set)
),

seeds AS (
    SELECT
        run_id,
        list_sort(list(DISTINCT try_cast(json_extract(parameters, '$.seed') AS HUGEINT))) AS sent
    FROM calls
    WHERE json_type(parameters, '$.seed') IN ('BIGINT', 'UBIGINT')
    GROUP BY run_id
)

SELECT
    poster_runs.suite,
    poster_runs.run_id,
    coalesce(
        CAST(json_extract(poster_runs.config, '$.seed_values') AS VARCHAR),
        CAST(to_json(seeds.sent) AS VARCHAR),
        '[]'
    ) AS seed_values
FROM scores.poster_run_setups AS poster_runs
LEFT JOIN seeds ON poster_runs.run_id = seeds.run_id
