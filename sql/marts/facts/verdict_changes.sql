-- How often each task passed in each run of a model, next to the model's previous run of the task.
-- grain: run × provider × model × settings × task set × task, with a verdict
-- inherits: scores.run_times, scores.task_facts, scores.setups
-- first: model, settings, task_id, change, pass_rate, run_id
-- n_judged: attempts with a verdict; those without an answer are left out
-- n_passed: attempts that passed
-- previous_run_id: the model's latest earlier run with a verdict on the task; NULL for the first
-- previous_n_judged: attempts with a verdict in that run
-- previous_pass_rate: pass rate of the task in that run
-- change: `gained` if the pass rate is higher than before, `lost` if it is lower, or `same`; NULL for
--     the first run, if the task's text has changed since, or if the run only repeats failures: some
--     then pass by chance, and no later run is compared with it
SELECT
    entries.suite,
    entries.run_id,
    times.run_date,
    times.started_at,
    entries.provider,
    entries.model,
    entries.settings,
    entries.task_set,
    changes.task_id,
    changes.n_judged,
    changes.n_passed,
    changes.pass_rate,
    changes.previous_run_id,
    changes.previous_n_judged,
    changes.previous_pass_rate,
    changes.change
FROM scores.task_changes AS changes
JOIN scores.entries AS entries ON changes.entry = entries.entry
JOIN scores.run_times AS times
    ON entries.suite = times.suite
    AND entries.run_id = times.run_id
ORDER BY
    entries.suite, entries.provider, entries.model, entries.settings, entries.task_set,
    changes.task_id, changes.position
