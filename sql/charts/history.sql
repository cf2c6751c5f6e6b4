-- The figures of each model over time, run by run, by the main metric of each task set or by one that
-- is named.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings × run
-- value: pass rate, else the score
-- ran_at: start of the run, else its date; NULL if neither is known
-- tags: tags of the run, by name
WITH main_metrics AS (
    SELECT DISTINCT suite, task_set, metric, scorer, filter
    FROM leaderboard
    WHERE if($metric IS NULL, is_main, metric = $metric)
)

SELECT
    runs.suite,
    runs.task_set,
    runs.metric,
    runs.scorer,
    runs.filter,
    runs.provider,
    runs.model,
    runs.settings,
    runs.run_id,
    coalesce(runs.started_at, CAST(runs.run_date AS TIMESTAMP)) AS ran_at,
    runs.metric = 'passed' AND coalesce(runs.score BETWEEN 0 AND 1, true) AS is_rate,
    coalesce(runs.pass_rate, runs.score) AS value,
    coalesce(runs.pass_rate_low, runs.score_low) AS value_low,
    coalesce(runs.pass_rate_high, runs.score_high) AS value_high,
    tagged.tags
FROM model_history AS runs
JOIN main_metrics
    ON runs.suite = main_metrics.suite
    AND runs.task_set = main_metrics.task_set
    AND runs.metric = main_metrics.metric
    AND runs.scorer IS NOT DISTINCT FROM main_metrics.scorer
    AND runs.filter IS NOT DISTINCT FROM main_metrics.filter
LEFT JOIN runs AS tagged ON runs.suite = tagged.suite AND runs.run_id = tagged.run_id
WHERE
    ($suite IS NULL OR runs.suite = $suite)
    AND ($task_set IS NULL OR runs.task_set = $task_set)
    AND coalesce(runs.pass_rate, runs.score) IS NOT NULL
ORDER BY
    runs.suite, runs.task_set, runs.metric, runs.scorer, runs.filter, runs.provider, runs.model,
    runs.settings, ran_at NULLS FIRST, runs.run_id
