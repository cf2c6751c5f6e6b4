-- Figures of imported poster reports that their runs, as they are in the store, do not give. Ground
-- truth that has changed since, or predictions that were repaired, explain a difference.
-- severity: warning
-- grain: report × model × metric; model is empty for the report's own label
-- inherits: metric_audit
-- recorded: value in the report, as text
-- computed: value computed from the run, as text
SELECT
    suite,
    report,
    run_id,
    coalesce(model, '') AS model,
    metric,
    coalesce(text, CAST(value AS VARCHAR)) AS recorded,
    coalesce(recomputed_text, CAST(recomputed AS VARCHAR)) AS computed
-- Not metric_audit: planning the figures of the other suites would take most of the time.
FROM scores.published_pairs
WHERE source = 'report'
    AND (
        metric IN (
            'posters', 'app_quality_score', 'app_core_score', 'schema_strict_rate',
            'json_parse_rate', 'prediction_cost_usd'
        ) AND abs(value - recomputed) > 1e-9
        -- A silver report of what is gold by now claims nothing too much.
        OR metric = 'label' AND model IS NULL AND recorded = 'gold' AND computed <> recorded
    )
ORDER BY ALL
