-- Each figure that a log, a summary or a published report reports, next to the same figure computed
-- from what is in the store. The standard error that a log reports with a figure has a row of its
-- own, with the statistic stderr. A field that an openclaw summary lacks has a row, too.
-- grain: reported figure × statistic
-- inherits: reported_metrics
-- first: run_id, task_set, scorer, metric, statistic, reported, recomputed, n, status, reason
-- statistic: how the figure follows from the scores: mean, stderr, std, var, sum, min, max, median or
--     count; NULL if it does not, and of summaries and reports
-- reported: the figure as reported; NULL if it is text
-- recomputed: the figure computed from the store; NULL if it is text or cannot be computed
-- reported_text: the figure as reported, as text
-- recomputed_text: the figure computed from the store, as text
-- reported_id: id of the figure; NULL in openclaw's summaries
-- n_reported: tasks behind the figure, as reported; of summaries results; of figures of votes and
--     ratings these; tasks × epochs, where an Inspect log lacks epochs; NULL if not reported, and where the figure has nothing to do with tasks
-- n: tasks behind recomputed, those without a score left out; of summaries results; of figures of votes
--     and ratings these; NULL if none
-- status: equal: the two agree, numbers within 1e-9 (absolute up to 1, relative to the reported
--     figure above), texts exactly; differs: they do not; samples missing: the figure is about more
--     tasks or results than the store has, so that the two need not agree; not recomputable: see
--     reason
-- reason: why the figure cannot be recomputed, how many samples are missing, or what is known about
--     a difference; NULL if there is nothing to say
WITH pairs AS (
    SELECT
        suite, 'log' AS source, NULL AS report, run_id, seq, provider, model, settings,
        task_set, task_group, scorer, metric, filter, statistic, reducer, reducer_parameters,
        reported, recomputed, reported_text,
        CAST(recomputed AS VARCHAR) AS recomputed_text,
        n_reported, n_stored, n, reason, reported_id
    FROM scores.score_pairs
    UNION ALL
    SELECT
        suite, 'summary' AS source, NULL AS report, run_id, NULL AS seq, provider,
        model,
        CASE WHEN field <> 'run_wall_clock_ms' THEN coalesce('thinking_level ' || thinking_level, '') END
            AS settings,
        NULL AS task_set, NULL AS task_group, NULL AS scorer, field AS metric,
        NULL AS filter, NULL AS statistic, NULL AS reducer, NULL AS reducer_parameters,
        try_cast(recorded AS DOUBLE) AS reported,
        try_cast(computed AS DOUBLE) AS recomputed,
        recorded AS reported_text,
        computed AS recomputed_text,
        n_recorded AS n_reported,
        n_computed AS n_stored,
        n_computed AS n,
        CASE
            WHEN computed IS NOT NULL OR n_recorded > n_computed THEN NULL
            WHEN is_of_calls THEN 'nothing in the store gives it'
            ELSE 'no such snapshot in the store'
        END AS reason,
        NULL AS reported_id
    FROM scores.summary_pairs
    UNION ALL
    SELECT
        suite, source, report, run_id, seq, NULL AS provider, model, NULL AS settings,
        NULL AS task_set, NULL AS task_group, NULL AS scorer, metric, NULL AS filter,
        NULL AS statistic, NULL AS reducer, NULL AS reducer_parameters,
        value AS reported, recomputed,
        coalesce(text, CAST(value AS VARCHAR)) AS reported_text,
        coalesce(recomputed_text, CAST(recomputed AS VARCHAR)) AS recomputed_text,
        n_reported, n_stored, n, reason, reported_id
    FROM scores.published_pairs
),

judged AS (
    SELECT
        *,
        figure_status(
            reason, n_reported, n_stored, reported_text, recomputed_text, reported, recomputed
        ) AS status
    FROM pairs
)

SELECT
    suite,
    source,
    report,
    run_id,
    seq,
    provider,
    model,
    settings,
    task_set,
    task_group,
    scorer,
    metric,
    filter,
    statistic,
    reducer,
    reducer_parameters,
    reported,
    recomputed,
    reported_text,
    recomputed_text,
    n_reported,
    n,
    status,
    CASE
        WHEN reason IS NOT NULL THEN reason
        WHEN status = 'samples missing' AND n_stored = 0 THEN 'the store has none'
        WHEN status = 'samples missing' THEN concat('the store has ', n_stored, ' of ', n_reported)
        WHEN status = 'differs' AND reported_text IS NULL THEN 'not reported'
        WHEN status = 'differs' AND n <> n_reported
            THEN concat(n_reported, ' tasks reported, ', n, ' with a score')
    END AS reason,
    reported_id
FROM judged
ORDER BY
    suite,
    source,
    report,
    run_id,
    seq,
    provider NULLS FIRST,
    model NULLS FIRST,
    settings,
    metric,
    -- A figure comes before its standard error.
    coalesce(statistic = 'stderr', false),
    reported_id
