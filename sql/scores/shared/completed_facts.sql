-- The facts of each task in each run: those of the answers that a later run got where this one got none;
-- see completions.
-- grain: run × provider × model × settings × task set × is_replay × task
-- inherits: scores.task_facts
SELECT
    facts.suite,
    facts.run_id,
    facts.task_set,
    facts.is_replay,
    facts.entry,
    facts.task,
    facts.task_id,
    facts.task_hash,
    facts.n_results,
    facts.n_unanswered,
    facts.n_open,
    facts.n_counted,
    facts.n_judged,
    facts.n_passed,
    facts.first_passed,
    facts.first_outcome,
    facts.last_passed
FROM scores.task_facts AS facts
ANTI JOIN scores.completions AS completions
    ON facts.entry = completions.entry
    AND facts.task = completions.task
UNION ALL
SELECT
    answers.suite,
    completions.run_id,
    answers.task_set,
    answers.is_replay,
    completions.entry,
    answers.task,
    answers.task_id,
    answers.task_hash,
    answers.n_results,
    answers.n_unanswered,
    answers.n_open,
    answers.n_counted,
    answers.n_judged,
    answers.n_passed,
    answers.first_passed,
    answers.first_outcome,
    answers.last_passed
FROM scores.completions AS completions
JOIN scores.task_facts AS answers
    ON completions.other_entry = answers.entry
    AND completions.task = answers.task
