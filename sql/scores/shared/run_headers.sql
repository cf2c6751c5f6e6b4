-- What the results of a run take from its headers.
-- refreshed
-- by_run
-- grain: run
-- inherits: lake.runs
-- task_set: task set that the run names
-- model: model that the run names for all of its calls
-- started_at: start of the run
-- task_limit: tasks that the run was limited to, where a log of a suite says so that records it
-- n_planned: samples that a log names, whether or not the run came to them
-- is_adaptive: whether each task was chosen by the answers before (`evalstore run --adaptive`), so that
--     the share of tasks that passed is no score
-- replayed_models: models whose answers came from a file, by the run's plan; NULL if there are none
SELECT
    runs.suite,
    runs.run_id,
    arg_min(task_set, content_id) FILTER (task_set IS NOT NULL) AS task_set,
    arg_min(model, content_id) FILTER (model IS NOT NULL) AS model,
    min(started_at) AS started_at,
    max(CASE WHEN traits.records_limit THEN coalesce(
        try_cast(json_extract_string(config, '$.config.limit') AS DOUBLE),
        -- A range of samples
        if(json_type(config, '$.config.limit') = 'ARRAY', 0, NULL),
        try_cast(json_extract_string(config, '$.limit') AS DOUBLE),
        try_cast(json_extract_string(config, '$.run_spec.adapter_spec.max_eval_instances') AS DOUBLE),
        try_cast(json_extract_string(config, '$.max_samples') AS DOUBLE)
    ) END) AS task_limit,
    max(json_array_length(extra, '$.eval.dataset.sample_ids')) AS n_planned,
    coalesce(bool_or(
        contains(plan, '"adaptive"') AND json_valid(plan) AND json_type(plan, '$.adaptive') = 'OBJECT'
    ), false) AS is_adaptive,
    flatten(list(replayed_models) FILTER (replayed_models IS NOT NULL)) AS replayed_models
FROM lake.runs AS runs
LEFT JOIN suite_traits AS traits ON runs.suite = traits.suite
GROUP BY runs.suite, runs.run_id
