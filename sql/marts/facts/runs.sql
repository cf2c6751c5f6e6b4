-- The runs, each in its current generation.
-- grain: run
-- inherits: lake.runs
-- first: run_id, models, n_results, n_tasks, run_date, label
-- run_date: local date in the log, else the UTC day of the run's start or of its first call; NULL
--     if none is known
-- recorded_date: date in the log, as recorded: text, and not always a date
-- wall_clock_ms: from the start of the first call to the end of the last, milliseconds; NULL where
--     no call has an end
-- n_results: results of the run
-- n_tasks: different tasks of the results; equal ids in two task sets are two tasks
-- is_replay: whether answers of the run came from a file (provider `replay`) and not from a model
-- label: gold or silver: label of the ground truth, in suites with one; see poster_labels
-- label_basis: whether a gold label is proven in the store or declared at an import
-- models: names of the models that were called, sorted; where no call is logged, the run's model
-- prompt_template: prompt template of the source with the most records
-- n_templates: number of different prompt templates
-- tags: values of the run's tags by name, such as `tags['release']`; see run_tags
WITH headers AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite, run_id
            ORDER BY source_rows DESC NULLS LAST, ended_at IS NULL, content_id
        ) AS place
    FROM lake.runs
),

-- With several sources, only some may have a config, a start, a model and so on.
documents AS (
    SELECT
        suite,
        run_id,
        arg_min(task_set, place) AS task_set,
        arg_min(dataset_hashes, place) AS dataset_hashes,
        arg_min(config, place) AS config,
        arg_min(inventory, place) AS inventory,
        arg_min(source, place) AS source,
        arg_min(run_date, place) AS recorded_date,
        arg_min(ended_at, place) AS ended_at,
        arg_min(model, place) AS model,
        arg_min(temperature, place) AS temperature,
        arg_min(seed, place) AS seed,
        arg_min(git_commit, place) AS git_commit,
        arg_min(versions, place) AS versions,
        arg_min(extra, place) AS extra
    FROM headers
    GROUP BY suite, run_id
),

templates AS (
    SELECT
        suite,
        run_id,
        count(DISTINCT template_hash) AS n_templates,
        coalesce(bool_or(len(replayed_models) > 0), false) AS plans_replay
    FROM lake.runs
    GROUP BY ALL
)

SELECT
    headers.suite,
    headers.run_id,
    headers.generation,
    headers.parent_generation,
    headers.origin,
    templates.plans_replay OR coalesce(calls.is_replay, false) AS is_replay,
    times.run_date,
    documents.recorded_date,
    times.started_at,
    coalesce(documents.ended_at, calls.ended_at) AS ended_at,
    calls.wall_clock_ms,
    coalesce(calls.n_results, 0) AS n_results,
    coalesce(calls.n_tasks, 0) AS n_tasks,
    coalesce(calls.models, CASE WHEN documents.model IS NOT NULL THEN [documents.model] END, [])
        AS models,
    headers.model_path,
    coalesce(labels.label, headers.label) AS label,
    CASE WHEN labels.label = 'gold' THEN labels.label_basis ELSE headers.label_basis END
        AS label_basis,
    documents.temperature,
    documents.seed,
    documents.task_set,
    headers.prompt_template,
    headers.template_hash,
    templates.n_templates,
    documents.dataset_hashes,
    documents.config,
    documents.inventory,
    coalesce(tagged.tags, MAP {}) AS tags,
    documents.git_commit,
    documents.versions,
    headers.source_name,
    headers.record_keys,
    documents.extra,
    documents.source,
    headers.file_sha256,
    headers.batch
FROM headers
JOIN documents USING (suite, run_id)
JOIN templates USING (suite, run_id)
JOIN scores.run_times AS times USING (suite, run_id)
LEFT JOIN scores.run_calls AS calls USING (suite, run_id)
LEFT JOIN scores.tag_maps AS tagged USING (suite, run_id)
LEFT JOIN poster_labels AS labels USING (suite, run_id)
WHERE headers.place = 1
