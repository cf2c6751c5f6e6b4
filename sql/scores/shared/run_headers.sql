-- What the results of a run take from its headers.
-- refreshed
-- by_run
-- grain: run
-- inherits: lake.runs
-- task_set: task set that the run names
-- model: model that the run names for all of its calls
-- started_at: start of the run
-- replayed_models: models whose answers came from a file, by the run's plan; NULL if there are none
SELECT
    suite,
    run_id,
    arg_min(task_set, content_id) FILTER (task_set IS NOT NULL) AS task_set,
    arg_min(model, content_id) FILTER (model IS NOT NULL) AS model,
    min(started_at) AS started_at,
    flatten(list(replayed_models) FILTER (replayed_models IS NOT NULL)) AS replayed_models
FROM lake.runs
GROUP BY suite, run_id
