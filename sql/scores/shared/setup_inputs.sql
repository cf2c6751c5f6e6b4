-- The inputs of setups: what the results of a run record of the model and its settings, and what the
-- model files and the run's headers add.
-- grain: run × recorded provider, model, path, settings, thinking level and task set
-- inherits: results
-- setup: hash of what is recorded; the results with it have this setup
-- is_replay: whether the answers came from a file (provider `replay`) and not from a model; of older
--     runs, as their plan says
WITH recorded AS (
    SELECT
        suite,
        run_id,
        setup,
        any_value(provider) AS provider,
        any_value(model) AS model,
        any_value(system) AS system,
        any_value(model_path) AS model_path,
        any_value(settings) AS settings,
        any_value(thinking_level) AS thinking_level,
        any_value(task_set) AS task_set
    FROM lake.results
    GROUP BY suite, run_id, setup
)

SELECT
    recorded.suite,
    recorded.run_id,
    recorded.setup,
    CASE
        WHEN recorded.provider IS NULL AND list_contains(headers.replayed_models, recorded.model)
            THEN 'replay'
        ELSE coalesce(recorded.provider, model_files.provider)
    END AS provider,
    coalesce(
        recorded.system, recorded.model, headers.model, model_files.name, recorded.model_path
    ) AS model,
    coalesce(
        recorded.provider = 'replay',
        list_contains(headers.replayed_models, recorded.model),
        false
    ) AS is_replay,
    coalesce(recorded.model, headers.model) AS recorded_model,
    coalesce(recorded.system, recorded.model, headers.model) IS NOT NULL
        OR coalesce(NOT model_files.is_unresolved, false) AS is_resolved,
    concat_ws(
        ', ',
        'thinking_level ' || recorded.thinking_level,
        nullif(coalesce(settings_text(recorded.settings), model_files.settings), '')
    ) AS settings,
    coalesce(recorded.settings, model_files.parameters, '{}') AS parameters,
    -- Some logs name the task set only for the whole run, and a later import can add it.
    coalesce(recorded.task_set, headers.task_set, recorded.suite) AS task_set
FROM recorded
LEFT JOIN scores.model_files AS model_files ON recorded.model_path = model_files.model_path
LEFT JOIN scores.run_headers AS headers
    ON recorded.suite = headers.suite
    AND recorded.run_id = headers.run_id
