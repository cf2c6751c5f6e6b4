-- Figures of an imported summary.json that its own results do not give.
-- severity: critical
-- grain: run × provider × model × thinking level × field; provider is NULL for the whole run
-- inherits: summary_audit
SELECT
    run_id,
    provider,
    model,
    thinking_level,
    field,
    recorded,
    computed
FROM summary_audit
WHERE NOT agrees
ORDER BY run_id, provider NULLS FIRST, model, coalesce(thinking_level, 'None'), field
