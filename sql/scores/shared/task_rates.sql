-- How often each task passed in each run: its attempts averaged. A run that repeats calls of another
-- run is taken as a whole, so that it shows what it covers; without a call of its own it is left out.
-- Replays are left out.
-- grain: run × provider × model × settings × task set × task
-- inherits: scores.outcomes
-- n_results: attempts of the task
-- n_unanswered: attempts without an answer
-- n_counted: attempts that no other run counts
-- n_judged: attempts with a verdict
-- n_passed: attempts that passed
-- n_trials: attempts behind pass_rate: those with an outcome
-- pass_rate: share of n_trials that passed; NULL if there are none
-- first_passed: whether the first of n_trials passed
SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    task_id,
    min(task_hash) AS task_hash,
    count(*) AS n_results,
    count(*) FILTER (NOT is_answered) AS n_unanswered,
    count(*) FILTER (duplicate_of IS NULL) AS n_counted,
    count(passed) AS n_judged,
    count(*) FILTER (passed) AS n_passed,
    count(outcome) AS n_trials,
    n_passed / nullif(n_trials, 0) AS pass_rate,
    arg_min(outcome, (attempt, seq)) FILTER (outcome IS NOT NULL) AS first_passed
FROM scores.outcomes
WHERE NOT is_replay
GROUP BY suite, run_id, provider, model, settings, task_set, task_id
QUALIFY max(n_counted) OVER (
    PARTITION BY suite, run_id, provider, model, settings, task_set
) > 0
