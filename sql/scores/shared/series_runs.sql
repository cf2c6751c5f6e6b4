-- The runs of each model on a task set, which `drift` and `model_history` compare with each other, with
-- what their results have in common.
-- board
-- grain: run × recorded provider, model, path, settings, thinking level and task set
-- inherits: scores.setups, scores.run_times
-- subject: hash of the series and the task set
-- is_comparable: whether the run is more than a repeat of what failed before; see failure_repeats
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
    hash(setups.series, text_hash(setups.task_set)) AS subject,
    repeats.entry IS NULL AS is_comparable,
    times.run_date,
    times.started_at
FROM scores.setups AS setups
JOIN scores.run_times AS times
    ON setups.suite = times.suite
    AND setups.run_id = times.run_id
LEFT JOIN scores.failure_repeats AS repeats ON setups.entry = repeats.entry
WHERE NOT setups.is_replay
