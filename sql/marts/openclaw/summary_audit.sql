-- Each figure of an imported summary.json next to ours.
-- grain: run × provider × model × thinking level × field; provider is NULL for the whole run
-- inherits: metric_audit
-- first: run_id, model, field, recorded, computed, agrees
-- thinking_level: thinking level, as recorded
-- field: path in the group's object: latency_ms.p50, resources_before.mem_used
-- recorded: value in summary.json, as text; NULL if it has none
-- computed: value computed from the results, as text; NULL if there is none
-- agrees: whether both are equal, numbers within 1e-12
SELECT
    run_id,
    provider,
    model,
    thinking_level,
    field,
    recorded,
    computed,
    recorded IS NOT DISTINCT FROM computed OR coalesce(
        abs(try_cast(recorded AS DOUBLE) - try_cast(computed AS DOUBLE))
        <= 1e-12 * greatest(1, abs(try_cast(recorded AS DOUBLE))),
        false
    ) AS agrees
-- Not metric_audit: planning the figures of the other suites would take most of the time.
FROM scores.summary_pairs
ORDER BY run_id, provider NULLS FIRST, model, coalesce(thinking_level, 'None'), field
