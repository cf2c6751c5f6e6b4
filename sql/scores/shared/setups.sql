-- What the results of a run have in common: the model as resolved, its settings, the task set. It is
-- found once for many results, and when a model file changes, only here.
-- grain: run × recorded provider, model, path, settings, thinking level and task set
-- materialised
-- suite: every
-- key: suite, run_id, setup
-- inputs: setup_inputs
-- inherits: scores.setup_inputs
-- entry: hash of the run, provider, model, settings, task set and is_replay: what the figures of a run
--     are about; several setups may be one entry
-- series: hash of the suite, provider, model and settings
SELECT
    suite,
    run_id,
    setup,
    provider,
    model,
    is_replay,
    recorded_model,
    is_resolved,
    settings,
    parameters,
    task_set,
    hash(
        text_hash(suite), text_hash(run_id), text_hash(provider), text_hash(model), text_hash(settings),
        text_hash(task_set), is_replay
    ) AS entry,
    hash(text_hash(suite), text_hash(provider), text_hash(model), text_hash(settings)) AS series
FROM inputs
