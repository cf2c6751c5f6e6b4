-- What the figures need of each call, without texts.
-- grain: result
-- inherits: verdicts, scores.setups
-- is_answered: whether the call gave an answer
SELECT
    suite,
    run_id,
    entry,
    series,
    run_date,
    coalesce(availability_status = 'ok' AND success, false) AS is_answered,
    latency_ms,
    CASE WHEN NOT is_cached THEN cost_usd END AS cost_usd,
    coalesce(is_correct, objective_pass, computed) AS passed,
    is_replay,
    duplicate_of IS NULL AS is_counted
FROM scores.resolved_results
