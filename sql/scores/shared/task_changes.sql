-- How often each task passed in each run, next to the model's previous run of the task: verdict_changes
-- without names.
-- grain: run × provider × model × settings × task set × task, with a verdict
-- inherits: verdict_changes, scores.task_facts, scores.series_runs
-- position: position of the run among the suite's runs; see run_times
WITH judged AS (
    SELECT
        facts.entry,
        runs.series,
        runs.subject,
        runs.run_id,
        runs.position,
        facts.task,
        facts.task_id,
        facts.task_hash,
        facts.n_judged,
        facts.n_passed,
        facts.n_passed / facts.n_judged AS pass_rate,
        runs.is_comparable
    FROM scores.task_facts AS facts
    JOIN (
        SELECT DISTINCT
            runs.suite,
            runs.run_id,
            runs.entry,
            runs.series,
            runs.subject,
            runs.is_comparable,
            times.position
        FROM scores.series_runs AS runs
        JOIN scores.run_times AS times
            ON runs.suite = times.suite
            AND runs.run_id = times.run_id
    ) AS runs
        ON facts.suite = runs.suite
        AND facts.run_id = runs.run_id
        AND facts.entry = runs.entry
    ANTI JOIN (FROM scores.task_clusters WHERE is_copy) AS copies ON facts.task = copies.task
    WHERE facts.n_judged > 0 AND facts.n_counted > 0
),

-- The window is by one number, which is faster, and few need the run.
compared AS (
    SELECT
        *,
        lag(CASE WHEN is_comparable THEN run_id END IGNORE NULLS) OVER earlier AS previous_run_id,
        lag(
            CASE
                WHEN is_comparable
                    THEN {n_judged: n_judged, pass_rate: pass_rate, task_hash: task_hash}
            END IGNORE NULLS
        ) OVER earlier AS previous
    FROM judged
    WINDOW earlier AS (PARTITION BY hash(series, task) ORDER BY position)
)

SELECT
    entry,
    series,
    subject,
    task,
    task_id,
    position,
    n_judged,
    n_passed,
    pass_rate,
    previous_run_id,
    previous.n_judged AS previous_n_judged,
    previous.pass_rate AS previous_pass_rate,
    CASE
        WHEN NOT is_comparable OR previous.task_hash <> task_hash THEN NULL
        WHEN pass_rate > previous.pass_rate THEN 'gained'
        WHEN pass_rate < previous.pass_rate THEN 'lost'
        WHEN pass_rate = previous.pass_rate THEN 'same'
    END AS change
FROM compared
