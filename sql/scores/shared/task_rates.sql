-- How often each task passed in each run: its attempts averaged. A run that repeats calls of another
-- run is taken as a whole, so that it shows what it covers; without a call of its own it is left out.
-- Replays are left out.
-- grain: run × provider × model × settings × task set × task
-- inherits: scores.task_facts
-- n_trials: attempts behind pass_rate: those with an outcome
-- pass_rate: share of n_trials that passed; NULL if there are none
-- first_passed: whether the first of n_trials passed
-- is_judged: whether any attempt of the entry at any task has a verdict
SELECT
    facts.suite,
    facts.run_id,
    entries.provider,
    entries.model,
    entries.settings,
    facts.task_set,
    facts.task_id,
    facts.task_hash,
    facts.n_results,
    facts.n_unanswered,
    facts.n_counted,
    facts.n_judged,
    facts.n_passed,
    if(judged.task IS NULL, facts.n_judged, facts.n_judged + facts.n_open) AS n_trials,
    facts.n_passed / nullif(n_trials, 0) AS pass_rate,
    if(judged.task IS NULL, facts.first_passed, facts.first_outcome) AS first_passed,
    facts.entry,
    facts.task,
    entries.series,
    judged_entries.is_judged
FROM scores.task_facts AS facts
JOIN scores.entries AS entries ON facts.entry = entries.entry
LEFT JOIN (SELECT task FROM scores.judged_tasks WHERE NOT is_replay) AS judged
    ON facts.task = judged.task
JOIN (
    SELECT entry, max(n_judged) > 0 AS is_judged
    FROM scores.task_facts
    GROUP BY entry
    HAVING max(n_counted) > 0
) AS judged_entries ON facts.entry = judged_entries.entry
WHERE NOT facts.is_replay
