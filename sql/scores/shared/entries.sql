-- The models of each run, with their settings, by task set.
-- grain: run × provider × model × settings × task set × is_replay
-- inherits: scores.setups
SELECT
    entry,
    any_value(suite) AS suite,
    any_value(run_id) AS run_id,
    any_value(provider) AS provider,
    any_value(model) AS model,
    any_value(settings) AS settings,
    any_value(task_set) AS task_set,
    any_value(is_replay) AS is_replay,
    any_value(series) AS series
FROM scores.setups
GROUP BY entry
