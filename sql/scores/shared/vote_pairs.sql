-- Each figure of votes and ratings that a board or table reports, next to the same figure of what the store has.
-- grain: reported figure
-- inherits: scores.score_pairs
-- n_reported: votes or ratings behind the figure, as reported; of a figure that says none, the most of its run and
--     model
-- n_stored: votes or ratings in the store
-- n: votes or ratings behind recomputed
-- reason: why the figure is not computed; NULL if it is
SELECT
    reported.suite, reported.run_id, provider, reported.model, settings_text(settings) AS settings,
    task_set, task_group, scorer, metric, coalesce(score, metric) AS score, filter, statistic, reducer,
    reducer_parameters, seq, content_id AS reported_id,
    coalesce(value, try_cast(text AS DOUBLE)) AS reported,
    coalesce(text, CAST(value AS VARCHAR)) AS reported_text,
    CASE WHEN reported.reason IS NULL THEN figures[metric] END AS recomputed,
    false AS is_short,
    coalesce(
        reported.n, max(reported.n) OVER (PARTITION BY reported.suite, reported.run_id, reported.model)
    ) AS n_reported,
    CAST(coalesce(computed.n, 0) AS BIGINT) AS n_stored,
    CASE WHEN recomputed IS NOT NULL THEN n_stored END AS n,
    CASE
        WHEN reported.reason IS NOT NULL THEN reported.reason
        -- With samples missing, that is what there is to say.
        WHEN coalesce(n_reported, 1) > n_stored OR recomputed IS NOT NULL THEN NULL
        WHEN coalesce(map_contains(figures, metric), true) THEN computed.reason
        ELSE 'it does not follow from the votes and ratings in the store'
    END AS reason
FROM lake.reported_metrics AS reported
LEFT JOIN scores.vote_figures AS computed
    ON reported.suite = computed.suite
    AND reported.run_id = computed.run_id
    AND coalesce(reported.model = computed.model, computed.model IS NULL)
WHERE reported.suite IN (SELECT suite FROM suite_traits WHERE own_audit = 'votes')
