-- The calls whose time and cost count: of real models, each once though several runs may hold it, and
-- without answers from a cache.
-- grain: call that counts
-- inherits: verdicts, scores.setups
-- is_answered: whether the call gave an answer; NULL where that is not recorded
SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    entry,
    series,
    task_id,
    availability_status = 'ok' AND success AS is_answered,
    latency_ms,
    ttft_ms,
    cost_usd,
    input_tokens,
    output_tokens,
    coalesce(is_correct, objective_pass, computed) AS passed
FROM scores.resolved_results
WHERE duplicate_of IS NULL AND NOT is_replay AND NOT is_cached
