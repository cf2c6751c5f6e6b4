-- Figures that imported logs report and that their own scores do not give. summary_mismatches and
-- published_mismatches have those of openclaw's summaries and of poster reports.
-- severity: warning
-- grain: reported figure × statistic
-- inherits: metric_audit
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
    reason,
    reported_id
FROM metric_audit
WHERE source = 'log' AND status = 'differs'
ORDER BY suite, run_id, seq, metric, statistic = 'stderr', reported_id
