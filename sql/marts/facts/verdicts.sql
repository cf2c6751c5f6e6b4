-- Whether each result passed: as recorded in the log, else as evalstore computes it.
-- grain: result
-- inherits: results
-- first: run_id, model, settings, task_id, passed, verdict_source, cost_usd
-- recorded: verdict in the log
-- computed: verdict by the original program's rule; NULL if the task is not known
-- passed: recorded, else computed
-- cost_usd: cost of the call, US dollars; NULL if unknown, and for an answer from a cache
-- verdict_source: `recorded` or `computed`: where `passed` comes from
SELECT
    results.suite,
    results.run_id,
    results.result_id,
    results.seq,
    results.run_date,
    results.started_at,
    results.provider,
    results.is_replay,
    results.model,
    results.settings,
    results.task_set,
    results.task_id,
    results.task_name,
    results.task_hash,
    results.prompt,
    results.attempt,
    results.availability_status,
    results.success,
    results.latency_ms,
    results.duration_seconds,
    results.input_tokens,
    results.output_tokens,
    CASE WHEN NOT results.is_cached THEN results.cost_usd END AS cost_usd,
    results.is_cached,
    coalesce(results.is_correct, results.objective_pass) AS recorded,
    results.computed,
    coalesce(recorded, computed) AS passed,
    CASE
        WHEN recorded IS NOT NULL THEN 'recorded'
        WHEN computed IS NOT NULL THEN 'computed'
    END AS verdict_source,
    results.duplicate_of
FROM scores.resolved_results AS results
