-- The runs, each in its current generation.
-- grain: run
-- inherits: lake.runs
-- run_date: local date in the log, else the UTC day of the first call
-- n_results: results of the run
-- n_tasks: different tasks of the results
-- models: names of the models that were called, sorted
-- prompt_template: prompt template of the source with the most records
-- n_templates: number of different prompt templates
WITH headers AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite, run_id
            ORDER BY source_rows DESC NULLS LAST, content_id
        ) AS place
    FROM lake.runs
),

-- Of several sources not all may have come with a config or the like.
documents AS (
    SELECT
        suite,
        run_id,
        arg_min(task_set, place) AS task_set,
        arg_min(dataset_hashes, place) AS dataset_hashes,
        arg_min(config, place) AS config,
        arg_min(inventory, place) AS inventory,
        arg_min(source, place) AS source
    FROM headers
    GROUP BY suite, run_id
),

templates AS (
    SELECT suite, run_id, count(DISTINCT template_hash) AS n_templates
    FROM lake.runs
    GROUP BY ALL
),

calls AS (
    SELECT
        suite,
        run_id,
        count(*) AS n_results,
        count(DISTINCT task_id) AS n_tasks,
        min(run_date) AS first_date,
        min(started_at) AS started_at,
        max(coalesce(ended_at, started_at)) AS ended_at,
        list_sort(list(DISTINCT model) FILTER (model IS NOT NULL)) AS models
    FROM results
    GROUP BY ALL
)

SELECT
    headers.suite,
    headers.run_id,
    headers.generation,
    headers.parent_generation,
    headers.origin,
    coalesce(headers.run_date, calls.first_date) AS run_date,
    coalesce(headers.started_at, calls.started_at) AS started_at,
    coalesce(headers.ended_at, calls.ended_at) AS ended_at,
    coalesce(calls.n_results, 0) AS n_results,
    coalesce(calls.n_tasks, 0) AS n_tasks,
    coalesce(calls.models, []) AS models,
    headers.model_path,
    headers.label,
    headers.label_basis,
    headers.temperature,
    headers.seed,
    documents.task_set,
    headers.prompt_template,
    headers.template_hash,
    templates.n_templates,
    documents.dataset_hashes,
    documents.config,
    documents.inventory,
    headers.git_commit,
    headers.versions,
    headers.source_name,
    headers.record_keys,
    headers.extra,
    documents.source,
    headers.file_sha256,
    headers.batch
FROM headers
JOIN documents USING (suite, run_id)
JOIN templates USING (suite, run_id)
LEFT JOIN calls USING (suite, run_id)
WHERE headers.place = 1
