-- The scores that count of each task, run and metric: those of its attempts, in their order; see
-- task_attempts for what counts.
-- grain: run × provider × model × settings × task set × scorer × metric × filter × task
-- inherits: scores.task_attempts
-- scored: scores of the attempts that have a number, in order
SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    scorer,
    metric,
    filter,
    task_id,
    n_attempts,
    coalesce(listed, attempts_of(n_attempts, n_passed, first_passed)) AS scored,
    entry,
    series,
    task
FROM scores.task_attempts
