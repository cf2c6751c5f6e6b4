-- Every model call, as in results, with the verdict that evalstore computes.
-- grain: result
-- inherits: results
-- computed: verdict by the original program's rule; NULL if the task is not known
-- setup: hash of what is recorded of the model and its settings
-- entry: hash of what the figures of a run are about; see scores.setups
-- series: hash of the suite, provider, model and settings
SELECT
    calls.suite,
    calls.run_id,
    calls.generation,
    calls.content_id AS result_id,
    calls.seq,
    coalesce(calendar_date(calls.run_date), CAST(calls.started_at AS DATE)) AS run_date,
    calls.run_date AS recorded_date,
    setups.provider,
    setups.model,
    setups.is_replay,
    setups.recorded_model,
    setups.is_resolved,
    calls.model_path,
    setups.settings,
    setups.parameters,
    calls.thinking_level,
    setups.task_set,
    calls.task_id,
    calls.task_name,
    calls.task_hash,
    calls.prompt,
    calls.template_hash,
    coalesce(calls.attempt, 1) AS attempt,
    CASE
        WHEN records_outcomes(calls.suite) THEN calls.availability_status
        ELSE coalesce(calls.availability_status, 'ok')
    END AS availability_status,
    CASE
        WHEN records_outcomes(calls.suite) THEN calls.success
        ELSE coalesce(calls.success, true)
    END AS success,
    calls.failure_type,
    calls.started_at,
    calls.ended_at,
    calls.e2e_ms,
    calls.ttft_ms,
    calls.duration_seconds,
    CASE
        WHEN calls.is_cached IS NOT TRUE
            THEN coalesce(CAST(calls.e2e_ms AS DOUBLE), calls.duration_seconds * 1000)
    END AS latency_ms,
    calls.input_tokens,
    calls.output_tokens,
    calls.cost_usd,
    calls.cost_source,
    coalesce(calls.is_cached, false) AS is_cached,
    calls.raw_output,
    calls.raw_output_truncated,
    calls.answer,
    calls.parsed_output,
    calls.is_correct,
    calls.objective_pass,
    calls.violation,
    calls.scorer,
    calls.tool_calls,
    calls.tool_call_count,
    calls.tool_use_success,
    calls.retries,
    calls.system,
    calls.trial_id,
    calls.end_reason,
    calls.recorded_end,
    calls.token_scope,
    calls.cached_tokens,
    calls.reasoning_tokens,
    calls.n_steps,
    calls.n_tool_errors,
    calls.phases,
    1 + calls.n_replaced_calls + coalesce(CAST(json_array_length(calls.retries) AS BIGINT), 0)
        AS n_draws,
    calls.requested,
    calls.sent,
    calls.duplicate_of,
    calls.record_keys,
    calls.extra,
    calls.source,
    calls.file_sha256,
    calls.batch,
    calls.computed_verdict AS computed,
    calls.setup,
    setups.entry,
    setups.series
FROM lake.results AS calls
JOIN scores.setups AS setups ON calls.setup = setups.setup
WHERE NOT calls.is_replaced
