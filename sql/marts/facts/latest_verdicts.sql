-- The latest verdict of each model on each task.
-- grain: suite × task set × task × provider × model × settings
-- inherits: verdicts
-- run_id: run of the latest verdict
SELECT
    suite,
    task_set,
    task_id,
    provider,
    model,
    settings,
    run_id,
    run_date,
    result_id,
    passed
FROM verdict_changes
QUALIFY row_number() OVER (
    PARTITION BY suite, task_set, task_id, provider, model, settings
    ORDER BY
        run_date DESC NULLS LAST, started_at DESC NULLS LAST, run_id DESC, seq DESC, result_id DESC
) = 1
ORDER BY suite, task_set, task_id, provider, model, settings
