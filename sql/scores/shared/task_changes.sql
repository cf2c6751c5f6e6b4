-- How often each task passed in each run, next to the model's previous run of the task: verdict_changes
-- without names.
-- grain: run × provider × model × settings × task set × task, with a verdict
-- inherits: verdict_changes, scores.task_facts, scores.setups
-- position: position of the run among the suite's runs; see run_times
WITH judged AS (
    SELECT
        facts.entry,
        entries.series,
        entries.run_id,
        entries.position,
        facts.task,
        facts.task_id,
        facts.task_hash,
        facts.n_judged,
        facts.n_passed,
        facts.n_passed / facts.n_judged AS pass_rate
    FROM scores.task_facts AS facts
    JOIN (
        SELECT entries.entry, entries.series, entries.run_id, times.position
        FROM scores.entries AS entries
        JOIN scores.run_times AS times
            ON entries.suite = times.suite
            AND entries.run_id = times.run_id
    ) AS entries ON facts.entry = entries.entry
    WHERE facts.n_judged > 0 AND facts.n_counted > 0 AND NOT facts.is_replay
),

compared AS (
    SELECT
        *,
        lag(run_id) OVER earlier AS previous_run_id,
        lag(n_judged) OVER earlier AS previous_n_judged,
        lag(pass_rate) OVER earlier AS previous_pass_rate,
        coalesce(lag(task_hash) OVER earlier = task_hash, true) AS is_same_task
    FROM judged
    WINDOW earlier AS (
        PARTITION BY series, task ORDER BY position
    )
)

SELECT
    entry,
    series,
    task,
    task_id,
    position,
    n_judged,
    n_passed,
    pass_rate,
    previous_run_id,
    previous_n_judged,
    previous_pass_rate,
    CASE
        WHEN NOT is_same_task THEN NULL
        WHEN pass_rate > previous_pass_rate THEN 'gained'
        WHEN pass_rate < previous_pass_rate THEN 'lost'
        WHEN pass_rate = previous_pass_rate THEN 'same'
    END AS change
FROM compared
