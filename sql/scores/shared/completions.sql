-- The calls without an answer that a later run repeated: the tasks of a run of which no attempt got an
-- answer or a verdict, each with the first run after it that answered it. Such a run asks nothing but these
-- tasks of the model's fullest run before it. Answers that failed are never replaced.
-- board
-- grain: run × provider × model × settings × task set × task
-- inherits: scores.setups, scores.task_facts
-- other_entry: hash of the run and model whose answers count for the task; see scores.setups
-- other_run_id: its run
WITH later AS (
    SELECT entry, run_id, n_tasks, is_answered, position, fullest.entry AS full_entry
    FROM (
        SELECT
            sets.entry,
            sets.run_id,
            sets.n_tasks,
            sets.is_answered,
            times.position,
            -- The latest of equals.
            max({
                is_answered: sets.is_answered,
                n_tasks: sets.n_tasks,
                position: times.position,
                entry: sets.entry
            }) OVER (
                PARTITION BY entries.series, sets.task_set
                ORDER BY times.position
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS fullest
        FROM scores.asked_sets AS sets
        JOIN scores.entries AS entries ON sets.entry = entries.entry
        JOIN scores.run_times AS times
            ON sets.suite = times.suite
            AND sets.run_id = times.run_id
    )
    WHERE is_answered AND fullest.is_answered AND n_tasks < fullest.n_tasks
),

again AS (
    SELECT
        facts.suite,
        facts.run_id,
        facts.entry,
        facts.task,
        later.entry AS other_entry,
        later.run_id AS other_run_id,
        later.position,
        answers.n_results > answers.n_unanswered AS is_answered_now
    FROM later
    JOIN scores.task_facts AS answers ON later.entry = answers.entry
    JOIN scores.task_facts AS facts
        ON later.full_entry = facts.entry
        AND answers.task = facts.task
        AND coalesce(answers.task_hash = facts.task_hash, true)
    WHERE facts.n_open = facts.n_results
    QUALIFY count(*) OVER (PARTITION BY later.entry) = later.n_tasks
)

SELECT
    suite,
    run_id,
    entry,
    task,
    other_entry,
    other_run_id
FROM again
WHERE is_answered_now
QUALIFY row_number() OVER (PARTITION BY entry, task ORDER BY position) = 1
