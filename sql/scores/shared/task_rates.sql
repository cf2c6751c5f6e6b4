-- How often each task passed in each run: its attempts averaged, or the first of them where tasks were
-- repeated until they passed: otherwise every task that is ever solved would count for half or less
-- by its failures, and all by their luck. A run that repeats calls of another
-- run is taken as a whole, so that it shows what it covers; without a call of its own it is left out.
-- Replays are left out, and so are copies of tasks; see task_clusters.
-- grain: run × provider × model × settings × task set × task
-- inherits: scores.task_facts, scores.asked_sets
-- n_outcomes: attempts with a verdict, and those without one at tasks that have verdicts elsewhere
-- n_trials_passed: attempts among n_trials that passed
-- n_trials: attempts behind pass_rate: those with an outcome, that count
-- n_open: attempts among n_trials without an answer, which count as not passed; where only first attempts
--     count, without those before a judged attempt that did not pass
-- pass_rate: share of n_trials that passed; NULL if there are none
-- n_missing: attempts without a verdict that are not in n_trials, so that pass_rate leaves them out; NULL
--     where the task's validator judges nothing, so that no verdict can be missing
-- min_rate: pass_rate if all of them had failed
-- max_rate: pass_rate if all of them had passed
-- is_first_passed: whether the first of n_trials passed
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
    if(judged.task IS NULL, facts.n_judged, facts.n_judged + facts.n_open) AS n_outcomes,
    if(judged.task IS NULL, facts.first_passed, facts.first_outcome) AS is_first_passed,
    if(sets.is_first_only, least(n_outcomes, 1), n_outcomes) AS n_trials,
    if(sets.is_first_only, coalesce(CAST(is_first_passed AS BIGINT), 0), facts.n_passed)
        AS n_trials_passed,
    CASE
        WHEN judged.task IS NULL THEN 0
        WHEN sets.is_first_only
            THEN CAST(NOT coalesce(facts.first_outcome, true) AND coalesce(facts.first_passed, true) AS BIGINT)
        ELSE facts.n_open
    END AS n_open,
    n_trials_passed / nullif(n_trials, 0) AS pass_rate,
    CASE
        WHEN unchecked.task IS NOT NULL AND n_outcomes = 0 THEN NULL
        WHEN sets.is_first_only THEN 1 - n_trials
        ELSE facts.n_results - n_outcomes
    END AS n_missing,
    n_trials_passed / (n_trials + n_missing) AS min_rate,
    (n_trials_passed + n_missing) / (n_trials + n_missing) AS max_rate,
    facts.entry,
    facts.task,
    entries.series,
    sets.is_judged,
    sets.is_first_only
FROM scores.completed_facts AS facts
JOIN scores.entries AS entries ON facts.entry = entries.entry
LEFT JOIN (SELECT task FROM scores.judged_tasks WHERE NOT is_replay) AS judged
    ON facts.task = judged.task
LEFT JOIN scores.unchecked_tasks AS unchecked ON facts.task = unchecked.task
JOIN scores.asked_sets AS sets ON facts.entry = sets.entry
ANTI JOIN (FROM scores.task_clusters WHERE is_copy) AS copies ON facts.task = copies.task
WHERE NOT facts.is_replay
