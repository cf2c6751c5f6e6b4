-- The latest verdict of each model on each task.
-- grain: suite × task set × task × provider × model × settings
-- inherits: verdicts
-- first: model, settings, task_id, passed, run_id
-- run_id: run of the latest verdict
SELECT
    verdicts.suite,
    verdicts.task_set,
    verdicts.task_id,
    verdicts.provider,
    verdicts.model,
    verdicts.settings,
    verdicts.run_id,
    verdicts.run_date,
    verdicts.result_id,
    verdicts.passed
FROM scores.counted_verdicts AS verdicts
JOIN scores.run_times AS times
    ON verdicts.suite = times.suite
    AND verdicts.run_id = times.run_id
WHERE verdicts.passed IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY
        verdicts.suite, verdicts.task_set, verdicts.task_id,
        verdicts.provider, verdicts.model, verdicts.settings
    ORDER BY
        times.position DESC, verdicts.started_at DESC NULLS LAST, seq DESC, result_id DESC
) = 1
ORDER BY suite, task_set, task_id, provider, model, settings
