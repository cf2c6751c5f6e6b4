-- Figures that imported logs report and that their own scores do not give. summary_mismatches and
-- published_mismatches have those of openclaw's summaries and of poster reports.
-- severity: warning
-- grain: reported figure × statistic
-- inherits: metric_audit
WITH differing AS (
    -- Not metric_audit: planning the figures of the other suites would take most of the time.
    SELECT *, CAST(recomputed AS VARCHAR) AS recomputed_text
    FROM scores.score_pairs
    WHERE figure_status(
        reason, n_reported, n_stored, reported_text, recomputed_text, reported, recomputed
    ) = 'differs'
)

SELECT
    suite,
    run_id,
    model,
    task_set,
    scorer,
    metric,
    filter,
    statistic,
    reported_text,
    recomputed_text,
    n,
    CASE
        WHEN reported_text IS NULL THEN 'not reported'
        WHEN n <> n_reported
            THEN concat(n_reported, ' tasks reported, ', n, ' with a score')
    END AS reason,
    reported_id
FROM differing
ORDER BY suite, run_id, seq, metric, statistic = 'stderr', reported_id
