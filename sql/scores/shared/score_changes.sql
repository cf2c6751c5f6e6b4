-- How each task scored by each headline metric but the verdict in each run of a model, next to the
-- model's previous run of the task; verdict_changes has the verdict.
-- grain: run × provider × model × settings × task set × scorer × metric × filter × task, with a score
-- inherits: scores.run_times, scores.recorded_attempts, scores.setups
-- n_results: attempts with a score
-- score: mean over the attempts
-- previous_score: score of the task in the model's latest earlier run with a score of it
-- change: `gained` if the score is higher than before, `lost` if it is lower, or `same`; NULL for the
--     first run, for one that only repeats failures, or if the task's text has changed since
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
        tasks.task,
        repeats.entry IS NULL AS is_comparable
    FROM scores.recorded_attempts AS tasks
    JOIN scores.run_times AS times
        ON tasks.suite = times.suite
        AND tasks.run_id = times.run_id
    -- A poster without a prediction has none.
    LEFT JOIN (FROM scores.task_facts) AS facts
        ON tasks.entry = facts.entry
        AND tasks.task = facts.task
    LEFT JOIN scores.failure_repeats AS repeats ON tasks.entry = repeats.entry
    LEFT JOIN suite_traits AS traits ON tasks.suite = traits.suite
    WHERE
        len(tasks.listed) > 0
        AND is_headline(tasks.metric, traits.headline_metrics, traits.minor_metrics)
        AND (tasks.metric <> 'passed' OR tasks.scorer IS NOT NULL OR tasks.filter IS NOT NULL)
),

compared AS (
    SELECT
        *,
        lag(
            CASE
                WHEN is_comparable THEN {score: score, task_hash: task_hash}
            END IGNORE NULLS
        ) OVER (PARTITION BY series, task, scorer, metric, filter ORDER BY position) AS previous
    FROM scored
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
    previous.score AS previous_score,
    CASE
        WHEN NOT is_comparable OR previous.task_hash <> task_hash THEN NULL
        WHEN score > previous.score THEN 'gained'
        WHEN score < previous.score THEN 'lost'
        WHEN score = previous.score THEN 'same'
    END AS change,
    entry,
    task
FROM compared
