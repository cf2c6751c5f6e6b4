-- The figures of each model over time, run by run, by the metrics of the leaderboard: the pass rate, and
-- the other scores that logs record.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings × run
-- inherits: leaderboard, scores.run_rates
-- first: metric, model, settings, run_id, run_date, pass_rate, previous_pass_rate, score,
--     previous_score
-- metric: `passed`, the verdict, has a pass_rate; every other metric a score
-- n_tasks: tasks asked
-- previous_pass_rate: pass rate of the model's previous run of the task set, whatever it asked
-- previous_score: score of the model's previous run of the task set, whatever it asked
-- n_compared: tasks that an earlier run of the model asked too
-- n_gained: tasks among them that passed more often, or scored higher, than in the model's previous
--     run of the task
-- n_lost: tasks among them that passed less often, or scored lower
WITH changes AS (
    SELECT
        suite,
        task_set,
        provider,
        model,
        settings,
        run_id,
        count(change) AS n_compared,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost
    FROM verdict_changes
    GROUP BY suite, task_set, provider, model, settings, run_id
),

score_changes AS (
    SELECT
        suite,
        task_set,
        provider,
        model,
        settings,
        run_id,
        scorer,
        metric,
        filter,
        count(change) AS n_compared,
        count(*) FILTER (change = 'gained') AS n_gained,
        count(*) FILTER (change = 'lost') AS n_lost
    FROM scores.score_changes
    GROUP BY suite, task_set, provider, model, settings, run_id, scorer, metric, filter
),

-- As in the leaderboard.
intervals AS (
    SELECT
        suite,
        run_id,
        model,
        'app_quality' AS metric,
        quality_low AS score_low,
        quality_high AS score_high
    FROM scores.poster_intervals
    WHERE part = 'all'
),

figures AS (
    SELECT
        rates.*,
        NULL AS scorer,
        'passed' AS metric,
        NULL AS filter,
        NULL AS score,
        NULL AS score_low,
        NULL AS score_high,
        NULL AS n_scored,
        coalesce(changes.n_compared, 0) AS n_compared,
        coalesce(changes.n_gained, 0) AS n_gained,
        coalesce(changes.n_lost, 0) AS n_lost
    FROM scores.run_rates AS rates
    LEFT JOIN changes
        ON rates.suite = changes.suite
        AND rates.task_set = changes.task_set
        AND rates.provider IS NOT DISTINCT FROM changes.provider
        AND rates.model IS NOT DISTINCT FROM changes.model
        AND rates.settings = changes.settings
        AND rates.run_id = changes.run_id
    WHERE rates.pass_rate IS NOT NULL
    UNION ALL
    SELECT
        rates.* REPLACE (NULL AS pass_rate, NULL AS pass_rate_low, NULL AS pass_rate_high),
        metrics.scorer,
        metrics.metric,
        metrics.filter,
        metrics.mean AS score,
        if(intervals.run_id IS NULL, metrics.mean_low, intervals.score_low) AS score_low,
        if(intervals.run_id IS NULL, metrics.mean_high, intervals.score_high) AS score_high,
        metrics.n_tasks AS n_scored,
        changes.n_compared,
        changes.n_gained,
        changes.n_lost
    FROM scores.run_rates AS rates
    JOIN score_changes AS changes
        ON rates.suite = changes.suite
        AND rates.task_set = changes.task_set
        AND rates.provider IS NOT DISTINCT FROM changes.provider
        AND rates.model IS NOT DISTINCT FROM changes.model
        AND rates.settings = changes.settings
        AND rates.run_id = changes.run_id
    JOIN metrics
        ON rates.suite = metrics.suite
        AND rates.task_set = metrics.task_set
        AND rates.provider IS NOT DISTINCT FROM metrics.provider
        AND rates.model IS NOT DISTINCT FROM metrics.model
        AND rates.settings = metrics.settings
        AND rates.run_id = metrics.run_id
        AND changes.scorer IS NOT DISTINCT FROM metrics.scorer
        AND changes.metric = metrics.metric
        AND changes.filter IS NOT DISTINCT FROM metrics.filter
    LEFT JOIN intervals
        ON metrics.suite = intervals.suite
        AND metrics.run_id = intervals.run_id
        AND metrics.model = intervals.model
        AND metrics.metric = intervals.metric
    WHERE metrics.reducer = 'mean'
)

SELECT
    suite,
    task_set,
    metric,
    scorer,
    filter,
    provider,
    model,
    settings,
    run_id,
    run_date,
    started_at,
    n_tasks,
    n_results,
    n_unanswered,
    pass_rate,
    pass_rate_low,
    pass_rate_high,
    lag(pass_rate) OVER earlier AS previous_pass_rate,
    score,
    score_low,
    score_high,
    n_scored,
    lag(score) OVER earlier AS previous_score,
    n_compared,
    n_gained,
    n_lost
FROM figures
WINDOW earlier AS (
    PARTITION BY suite, task_set, metric, scorer, filter, provider, model, settings
    ORDER BY position
)
ORDER BY
    suite, task_set, metric <> 'passed', metric, scorer, filter, provider, model, settings, position
