-- The figures of models that their logs only report, because the store does not have the scores behind
-- them. They are shown as reported, and ranked neither here nor among the figures of the leaderboard.
-- Standard errors and ends of intervals are left out, and metrics that are not compared at first sight.
-- grain: suite × task set × metric × scorer × filter × statistic × reducer × provider × model × settings
-- inherits: metric_audit
-- blocks: suite, task_set
-- first: metric, scorer, filter, reducer, model, settings, reported, n_reported, run_date, run_id
-- run_id: the latest run whose log reports the figure
-- n_runs: runs whose logs report it
-- reason: why the store cannot compute it
WITH figures AS (
    SELECT
        audit.*,
        runs.run_date,
        count(*) OVER figure AS n_runs,
        row_number() OVER (
            figure ORDER BY runs.run_date DESC NULLS LAST, audit.run_id DESC, audit.seq DESC
        ) AS place
    FROM metric_audit AS audit
    JOIN runs ON audit.suite = runs.suite AND audit.run_id = runs.run_id
    LEFT JOIN suite_traits AS traits ON audit.suite = traits.suite
    WHERE
        audit.source = 'log'
        AND audit.reported IS NOT NULL
        AND audit.recomputed IS NULL
        AND audit.model IS NOT NULL
        AND audit.task_set IS NOT NULL
        AND audit.task_group IS NULL
        AND coalesce(audit.statistic, 'mean') IN ('mean', 'macro_mean', 'ratio', 'perplexity', 'bits')
        AND coalesce(audit.reason, '') NOT IN ('random bootstrap', 'an end of an interval')
        AND is_headline(audit.metric, traits.headline_metrics, traits.minor_metrics)
    WINDOW figure AS (
        PARTITION BY
            audit.suite, audit.task_set, audit.metric, audit.scorer, audit.filter, audit.statistic,
            audit.reducer, audit.reducer_parameters, audit.provider, audit.model, audit.settings
    )
)

SELECT
    suite,
    task_set,
    metric,
    scorer,
    filter,
    statistic,
    reducer,
    reducer_parameters,
    provider,
    model,
    settings,
    reported,
    n_reported,
    run_id,
    run_date,
    n_runs,
    reason
FROM figures
WHERE place = 1
ORDER BY
    suite, task_set, metric, scorer, filter, statistic, reducer, reducer_parameters, model, provider,
    settings
