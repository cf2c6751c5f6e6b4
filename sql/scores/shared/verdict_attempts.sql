-- What the attempts at each task in each run came to by the verdict, the metric `passed` without a scorer,
-- by the rules of task_rates: calls without an answer did not pass. Verdicts are counted, not listed:
-- millions of tasks have few different ones, of which a list each would take longer than all figures.
-- grain: run × provider × model × settings × task set × task
-- inherits: results, scores.task_facts, scores.setups
-- scorer, filter, listed: NULL; task_attempts has those of other scores
-- metric: `passed`
-- n_attempts: attempts with a verdict, and those without an answer
-- n_passed: attempts that passed
-- first_passed: whether the first attempt passed
SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    NULL::VARCHAR AS scorer,
    'passed' AS metric,
    NULL::VARCHAR AS filter,
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
