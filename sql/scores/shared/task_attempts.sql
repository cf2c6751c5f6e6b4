-- What the attempts at each task in each run came to, by each metric. A verdict is counted, any other
-- score is listed; scored_tasks has both as lists. Millions of tasks have few different verdicts, of
-- which a list each would take longer to make than all figures.
-- The verdict is the metric `passed` without a scorer, by the rules of task_rates: calls without an
-- answer did not pass. Any other score counts where it is recorded; see recorded_attempts.
-- grain: run × provider × model × settings × task set × scorer × metric × filter × task
-- inherits: scores.recorded_attempts, results, scores.task_facts, scores.setups
-- n_passed: attempts that passed, by the verdict; NULL for any other score
-- first_passed: whether the first attempt passed, by the verdict
-- listed: scores of the attempts that have a number, in order; NULL for the verdict
SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    NULL AS scorer,
    'passed' AS metric,
    NULL AS filter,
    task_id,
    n_trials AS n_attempts,
    n_trials_passed AS n_passed,
    is_first_passed AS first_passed,
    NULL::DOUBLE[] AS listed,
    entry,
    series,
    task
FROM scores.task_rates
-- Of a model whose calls all gave no answer, no pass rate is known.
WHERE is_judged AND n_trials > 0
UNION ALL
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
    NULL AS n_passed,
    NULL AS first_passed,
    listed,
    entry,
    series,
    task
FROM scores.recorded_attempts
