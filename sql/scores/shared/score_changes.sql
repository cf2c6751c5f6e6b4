-- How each task scored by each headline metric but the verdict in each run of a model, next to the
-- model's previous run of the task; verdict_changes has the verdict.
-- grain: run × provider × model × settings × task set × scorer × metric × filter × task, with a score
-- inherits: scores.run_times, scores.recorded_attempts, scores.setups
-- n_results: attempts with a score
-- score: mean over the attempts
-- previous_score: score of the task in the model's latest earlier run with a score of it
-- change: `gained` if the score is higher than before, `lost` if it is lower, or `same`; NULL for the
--     first run, or if the task's text has changed since
WITH scored AS (
    SELECT
        tasks.suite,
        tasks.run_id,
        times.position,
        times.run_date,
        times.started_at,
        tasks.provider,
        tasks.model,
        tasks.settings,
        tasks.task_set,
        tasks.scorer,
        tasks.metric,
        tasks.filter,
        tasks.task_id,
        facts.task_hash,
        len(tasks.listed) AS n_results,
        ordered_mean(tasks.listed) AS score,
        tasks.entry,
        tasks.series,
        tasks.task
    FROM scores.recorded_attempts AS tasks
    JOIN scores.run_times AS times
        ON tasks.suite = times.suite
        AND tasks.run_id = times.run_id
    -- A poster without a prediction has none.
    LEFT JOIN scores.task_facts AS facts
        ON tasks.entry = facts.entry
        AND tasks.task = facts.task
    WHERE
        len(tasks.listed) > 0
        AND is_headline(tasks.suite, tasks.metric)
        AND (tasks.metric <> 'passed' OR tasks.scorer IS NOT NULL OR tasks.filter IS NOT NULL)
),

compared AS (
    SELECT
        *,
        lag(score) OVER earlier AS previous_score,
        coalesce(lag(task_hash) OVER earlier = task_hash, true) AS is_same_task
    FROM scored
    WINDOW earlier AS (
        PARTITION BY series, task, scorer, metric, filter ORDER BY position
    )
)

SELECT
    suite,
    run_id,
    position,
    run_date,
    started_at,
    provider,
    model,
    settings,
    task_set,
    scorer,
    metric,
    filter,
    task_id,
    n_results,
    score,
    previous_score,
    CASE
        WHEN NOT is_same_task THEN NULL
        WHEN score > previous_score THEN 'gained'
        WHEN score < previous_score THEN 'lost'
        WHEN score = previous_score THEN 'same'
    END AS change,
    entry
FROM compared
