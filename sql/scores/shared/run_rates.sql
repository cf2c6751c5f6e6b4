-- The pass rate of each model in each run over the tasks of a task set, and how much of the set the
-- run covers, with the time of the run.
-- grain: run × provider × model × settings × task set
-- inherits: scores.entry_rates, scores.run_times
SELECT
    rates.suite,
    rates.run_id,
    rates.provider,
    rates.model,
    rates.settings,
    rates.task_set,
    times.position,
    times.run_date,
    times.started_at,
    rates.n_tasks,
    rates.n_covered,
    rates.n_rated,
    rates.n_results,
    rates.n_unanswered,
    rates.n_answered_tasks,
    rates.pass_rate,
    rates.covered_pass_rate,
    rates.n_clusters,
    rates.pass_rate_low,
    rates.pass_rate_high,
    rates.min_pass_rate,
    rates.max_pass_rate,
    rates.is_first_only,
    rates.asked,
    rates.entry
FROM scores.entry_rates AS rates
JOIN scores.run_times AS times
    ON rates.suite = times.suite
    AND rates.run_id = times.run_id
