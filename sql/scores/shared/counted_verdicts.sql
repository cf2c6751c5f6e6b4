-- The verdicts that count: of real model calls, each once though several runs may hold it.
-- grain: result that counts
-- inherits: verdicts
SELECT
    suite,
    run_id,
    result_id,
    seq,
    run_date,
    started_at,
    provider,
    model,
    settings,
    task_set,
    task_id,
    task_name,
    task_hash,
    prompt,
    attempt,
    availability_status,
    success,
    latency_ms,
    duration_seconds,
    input_tokens,
    output_tokens,
    cost_usd,
    is_cached,
    recorded,
    computed,
    passed,
    verdict_source
FROM verdicts
WHERE duplicate_of IS NULL AND NOT is_replay
