-- The basis of each poster run: dataset, ground truth and its label, seeds, hashes.
-- grain: run
-- inherits: runs
-- n_models: models of the run
-- posters_manifest_ok: posters with an image
-- n_excluded: posters with an image that the manifest excludes
-- ground_truth_available: scored posters: with an image and ground truth, and not excluded
-- missing_ground_truth: posters with an image, not excluded, that have no ground truth
-- gold_posters: scored posters with gold ground truth
-- label: gold, silver or mixed: label of the ground truth
-- label_basis: proven in the store, declared at an import, or `proven and declared`
-- generated_at: when its report was made, as recorded; else when the run entered the store
-- seed_values: JSON list of the seeds sent for ground truth, predictions and judgements, sorted
-- report_source: folder that the recorded report came from; empty if not recorded
WITH posters AS (
    SELECT
        runs.run_id,
        count(*) FILTER (status = 'ok') AS posters_manifest_ok,
        count(*) FILTER (status = 'ok' AND exclusion IS NOT NULL) AS n_excluded,
        count(*) FILTER (status = 'ok' AND exclusion IS NULL AND gold IS NOT NULL)
            AS ground_truth_available,
        count(*) FILTER (
            status = 'ok' AND exclusion IS NULL AND gold IS NOT NULL AND label = 'gold'
        ) AS gold_posters,
        count(*) FILTER (
            status = 'ok' AND exclusion IS NULL AND gold IS NOT NULL
            AND label_basis = 'proven'
        ) AS proven_posters
    FROM scores.poster_run_setups AS runs
    LEFT JOIN scores.poster_ground_truth AS posters ON runs.run_id = posters.run_id
    GROUP BY runs.run_id
),

calls AS (
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
    runs.run_date,
    poster_runs.task_set,
    len(poster_runs.models) AS n_models,
    posters.posters_manifest_ok,
    posters.n_excluded,
    posters.ground_truth_available,
    posters_manifest_ok - n_excluded - ground_truth_available AS missing_ground_truth,
    posters.gold_posters,
    CASE
        WHEN ground_truth_available = 0 THEN NULL
        WHEN gold_posters = 0 THEN 'silver'
        WHEN gold_posters = ground_truth_available THEN 'gold'
        ELSE 'mixed'
    END AS label,
    CASE
        WHEN gold_posters = 0 THEN NULL
        WHEN posters.proven_posters = gold_posters THEN 'proven'
        WHEN posters.proven_posters = 0 THEN 'declared'
        ELSE 'proven and declared'
    END AS label_basis,
    coalesce(
        json_extract_string(poster_runs.config, '$.generated_at'),
        strftime(batches.created_at, '%Y-%m-%dT%H:%M:%S+00:00')
    ) AS generated_at,
    runs.temperature,
    coalesce(
        CAST(json_extract(poster_runs.config, '$.seed_values') AS VARCHAR),
        CAST(to_json(seeds.sent) AS VARCHAR),
        '[]'
    ) AS seed_values,
    runs.dataset_hashes,
    runs.git_commit,
    coalesce(json_extract_string(poster_runs.config, '$.report_source'), '') AS report_source
FROM scores.poster_run_setups AS poster_runs
JOIN runs ON runs.suite = 'posters' AND poster_runs.run_id = runs.run_id
JOIN posters ON poster_runs.run_id = posters.run_id
LEFT JOIN seeds ON poster_runs.run_id = seeds.run_id
LEFT JOIN lake.batches AS batches ON poster_runs.batch = batches.batch
ORDER BY runs.run_date, poster_runs.run_id
