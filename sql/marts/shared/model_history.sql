-- The figures of each model over time, run by run, by the metrics of the leaderboard: the pass rate, and
-- the other scores that logs record.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings × run
-- inherits: leaderboard, scores.run_rates
-- first: metric, model, settings, run_id, run_date, pass_rate, previous_pass_rate, score,
--     previous_score
-- metric: `passed`, the verdict, has a pass_rate; every other metric a score
-- n_tasks: tasks asked
-- previous_pass_rate: pass rate of the model's previous run of the task set, whatever it asked; NULL if
--     that is adaptive
-- previous_score: the same of the score
-- repeats_failures: whether the run only repeats what failed before, some of which passes by chance: it
--     is compared with no other; see verdict_changes
-- completed_by: later runs whose answers count where this one got none; see leaderboard
-- n_clusters: clusters of the judged tasks, see leaderboard
-- n_compared: tasks that an earlier run of the model asked too
-- n_gained: tasks among them that passed more often, or scored higher, than in the model's previous
--     run of the task
-- n_lost: tasks among them that passed less often, or scored lower
-- change: mean over these tasks of the pass rate, or score, less that in the model's previous run of the
--     task; larger on the tasks of an adaptive run, which the model may as well pass as fail, than on all
-- change_low: lower end of the 95 % interval of the change: Newcombe's for paired proportions, up to 0
--     where the test does not reject at 5 %, or Student's, within the scale where it is known
-- change_high: upper end of the 95 % interval of the change
-- test: `mcnemar` (exact) where each of these tasks was judged once in both runs, else `paired_t`, or
--     `sign_flip` where all tasks changed alike; of tasks in clusters these are of the clusters' sums, and
--     there is none below 6 clusters; NULL if nothing can be tested
-- p_value: two-sided p-value of the test
-- p_holm: adjusted for all runs of the model in the task set by this metric (Holm 1979); NULL where
--     verdicts are missing in the run or in the one before: the judged tasks may not be like the others
WITH figures AS (
    SELECT
        *,
        NULL AS scorer,
        'passed' AS metric,
        NULL AS filter,
        NULL AS score,
        NULL AS score_low,
        NULL AS score_high,
        NULL AS n_scored
    FROM scores.run_rates
    WHERE pass_rate IS NOT NULL
    UNION ALL
    SELECT
        rates.* REPLACE (
            NULL AS pass_rate,
            NULL AS pass_rate_low,
            NULL AS pass_rate_high,
            NULL AS min_pass_rate,
            NULL AS max_pass_rate,
            metrics.n_clusters AS n_clusters
        ),
        metrics.scorer,
        metrics.metric,
        metrics.filter,
        metrics.mean AS score,
        metrics.mean_low AS score_low,
        metrics.mean_high AS score_high,
        metrics.n_tasks AS n_scored
    FROM scores.run_rates AS rates
    JOIN scores.headline_scores AS metrics ON rates.entry = metrics.entry
    WHERE
        NOT metrics.is_corrected
        AND metrics.mean IS NOT NULL
        AND (metrics.metric <> 'passed' OR metrics.scorer IS NOT NULL OR metrics.filter IS NOT NULL)
),

completed AS (
    SELECT entry, string_agg(DISTINCT other_run_id, ', ' ORDER BY other_run_id) AS completed_by
    FROM scores.completions
    GROUP BY entry
),

described AS (
    SELECT
        figures.*,
        coalesce(changes.n_compared, 0) AS n_compared,
        coalesce(changes.n_gained, 0) AS n_gained,
        coalesce(changes.n_lost, 0) AS n_lost,
        changes.n_kept,
        changes.change,
        changes.n_units,
        changes.df,
        changes.standard_error,
        coalesce(changes.is_pass_or_fail, false) AND changes.n_units IS NULL AS is_paired_verdict,
        completed.completed_by,
        headers.is_adaptive,
        repeats.entry IS NOT NULL AS repeats_failures,
        CASE
            WHEN figures.metric = 'passed' AND figures.scorer IS NULL THEN 1
            WHEN list_contains(traits.percent_metrics, figures.metric) THEN 100
        END AS scale
    FROM figures
    JOIN scores.run_headers AS headers
        ON figures.suite = headers.suite
        AND figures.run_id = headers.run_id
    LEFT JOIN scores.run_changes AS changes
        ON figures.entry = changes.entry
        AND figures.scorer IS NOT DISTINCT FROM changes.scorer
        AND figures.metric = changes.metric
        AND figures.filter IS NOT DISTINCT FROM changes.filter
    LEFT JOIN suite_traits AS traits ON figures.suite = traits.suite
    LEFT JOIN completed ON figures.entry = completed.entry
    LEFT JOIN (SELECT DISTINCT entry FROM scores.series_runs WHERE NOT is_comparable) AS repeats
        ON figures.entry = repeats.entry
),

tested AS (
    SELECT
        *,
        CASE
            WHEN n_compared = 0 OR n_units < 6 THEN NULL
            WHEN is_paired_verdict THEN mcnemar_p(n_gained, n_lost)
            -- All tasks changed alike: of all flips of signs, two are as extreme.
            WHEN standard_error IS NULL AND change <> 0 AND coalesce(n_units, n_compared) > 1
                THEN 2.0 ** (1 - coalesce(n_units, n_compared))
            ELSE student_p(change / standard_error, df)
        END AS p_value,
        CASE
            -- It excludes 0 wherever the exact test rejects, and in some cases more.
            WHEN is_paired_verdict THEN list_transform(
                newcombe_interval(
                    n_kept, n_gained, n_lost, n_compared - n_kept - n_gained - n_lost
                ),
                lambda bound, i: CASE
                    WHEN p_value < 0.05 THEN bound
                    WHEN i = 1 THEN least(bound, 0)
                    ELSE greatest(bound, 0)
                END
            )
            WHEN standard_error IS NOT NULL AND coalesce(n_units >= 6, true) THEN [
                greatest(-scale, change - student_quantile(df) * standard_error),
                least(scale, change + student_quantile(df) * standard_error)
            ]
        END AS ends
    FROM described
),

decided AS (
    SELECT
        *,
        CASE
            WHEN min_pass_rate IS NULL AND lag(min_pass_rate) OVER (
                PARTITION BY suite, task_set, metric, scorer, filter, provider, model, settings
                ORDER BY position
            ) IS NULL
                THEN p_value
        END AS p_decided
    FROM tested
),

ranked AS (
    SELECT
        * REPLACE (
            if(is_adaptive, NULL, pass_rate) AS pass_rate,
            if(is_adaptive, NULL, pass_rate_low) AS pass_rate_low,
            if(is_adaptive, NULL, pass_rate_high) AS pass_rate_high,
            if(is_adaptive, NULL, min_pass_rate) AS min_pass_rate,
            if(is_adaptive, NULL, max_pass_rate) AS max_pass_rate,
            if(is_adaptive, NULL, score) AS score,
            if(is_adaptive, NULL, score_low) AS score_low,
            if(is_adaptive, NULL, score_high) AS score_high
        ),
        row_number() OVER (of_series ORDER BY p_decided NULLS LAST, position) AS place,
        count(p_decided) OVER of_series AS n_tests
    FROM decided
    WINDOW of_series AS (
        PARTITION BY suite, task_set, metric, scorer, filter, provider, model, settings
    )
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
    n_clusters,
    n_results,
    n_unanswered,
    pass_rate,
    pass_rate_low,
    pass_rate_high,
    min_pass_rate,
    max_pass_rate,
    coalesce(
        adaptive_remark(is_adaptive),
        if(is_lesser IS NULL, pass_rate_remark(
            pass_rate, n_rated, n_tasks, min_pass_rate, max_pass_rate, n_unanswered, n_results
        ), 'less is better')
    ) AS remark,
    lag(pass_rate) OVER earlier AS previous_pass_rate,
    score,
    score_low,
    score_high,
    n_scored,
    lag(score) OVER earlier AS previous_score,
    repeats_failures,
    completed_by,
    n_compared,
    n_gained,
    n_lost,
    change,
    ends[1] AS change_low,
    ends[2] AS change_high,
    CASE
        WHEN p_value IS NULL THEN NULL
        WHEN is_paired_verdict THEN 'mcnemar'
        ELSE if(standard_error IS NULL, 'sign_flip', 'paired_t')
    END AS test,
    p_value,
    CASE
        WHEN p_decided IS NOT NULL THEN least(1.0, max((n_tests - place + 1) * p_decided) OVER (
            PARTITION BY suite, task_set, metric, scorer, filter, provider, model, settings
            ORDER BY place
        ))
    END AS p_holm
FROM ranked
LEFT JOIN scores.lesser_metrics USING (suite, task_set, metric)
WINDOW earlier AS (
    PARTITION BY suite, task_set, metric, scorer, filter, provider, model, settings
    ORDER BY position
)
ORDER BY
    suite, task_set, metric <> 'passed', metric, scorer, filter, provider, model, settings, position
