-- The basis of each poster run: dataset, ground truth and its label, seeds, hashes.
-- grain: run
-- first: run_id, label, ground_truth_available, gold_posters, silver_posters, n_models
-- inherits: runs, poster_labels, scores.poster_seeds
-- n_models: models of the run
-- posters_manifest_ok: posters with an image
-- n_excluded: posters with an image that the manifest excludes
-- missing_ground_truth: posters with an image, not excluded, that have no ground truth
-- generated_at: when its report was made, as recorded; else when the run entered the store
-- bootstrap: bootstrap settings that the run records, JSON; NULL if it records none
-- weights: weights of the scores that the run records, JSON; NULL if it records none
-- report_source: folder that the recorded report came from; empty if not recorded
WITH posters AS (
    SELECT
        runs.run_id,
        count(*) FILTER (status = 'ok') AS posters_manifest_ok,
        count(*) FILTER (status = 'ok' AND exclusion IS NOT NULL) AS n_excluded
    FROM scores.poster_run_setups AS runs
    LEFT JOIN scores.poster_ground_truth AS posters ON runs.run_id = posters.run_id
    GROUP BY runs.run_id
)

SELECT
    poster_runs.suite,
    poster_runs.run_id,
    runs.run_date,
    poster_runs.task_set,
    len(poster_runs.models) AS n_models,
    posters.posters_manifest_ok,
    posters.n_excluded,
    labels.ground_truth_available,
    posters.posters_manifest_ok - posters.n_excluded - labels.ground_truth_available
        AS missing_ground_truth,
    labels.gold_posters,
    labels.silver_posters,
    labels.label,
    labels.label_basis,
    coalesce(
        json_extract_string(poster_runs.config, '$.generated_at'),
        strftime(batches.created_at, '%Y-%m-%dT%H:%M:%S+00:00')
    ) AS generated_at,
    runs.temperature,
    seeds.seed_values,
    CAST(json_extract(poster_runs.config, '$.bootstrap') AS VARCHAR) AS bootstrap,
    CAST(json_extract(poster_runs.config, '$.weights') AS VARCHAR) AS weights,
    runs.dataset_hashes,
    runs.git_commit,
    coalesce(json_extract_string(poster_runs.config, '$.report_source'), '') AS report_source
FROM scores.poster_run_setups AS poster_runs
JOIN runs ON runs.suite = 'posters' AND poster_runs.run_id = runs.run_id
JOIN posters ON poster_runs.run_id = posters.run_id
JOIN poster_labels AS labels ON poster_runs.run_id = labels.run_id
JOIN scores.poster_seeds AS seeds ON poster_runs.run_id = seeds.run_id
LEFT JOIN lake.batches AS batches ON poster_runs.batch = batches.batch
ORDER BY runs.run_date, poster_runs.run_id
