-- The runs of each model on a task set that `drift` compares, with what their results have in common.
-- board
-- grain: run × recorded provider, model, path, settings, thinking level and task set
-- inherits: scores.setups, scores.run_times
SELECT
    setups.suite,
    setups.run_id,
    setups.setup,
    setups.provider,
    setups.model,
    setups.settings,
    setups.task_set,
    setups.entry,
    setups.series,
    times.run_date,
    times.started_at
FROM scores.setups AS setups
JOIN scores.run_times AS times
    ON setups.suite = times.suite
    AND setups.run_id = times.run_id
ANTI JOIN scores.failure_repeats AS repeats
    ON setups.series = repeats.series
    AND setups.task_set = repeats.task_set
    AND setups.run_id = repeats.run_id
WHERE NOT setups.is_replay
    AND coalesce(times.started_at, times.run_date) IS NOT NULL
