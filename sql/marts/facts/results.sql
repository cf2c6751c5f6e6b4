-- Every model call, with the model's name and settings resolved.
-- grain: result
-- inherits: lake.results
-- first: model, task_id, answer, availability_status, cost_usd, latency_ms, run_id
-- run_date: local date in the log, else the UTC day of the call; NULL if neither is known
-- recorded_date: date in the log, as recorded: text, and not always a date
-- provider: way to reach the model: as recorded, else as the model file says
-- model: name of the model: as recorded for the call, else for its run, else as the model file says,
--     else the file's path
-- recorded_model: name of the model, exactly as recorded
-- is_resolved: whether the model's name is known, rather than only the path of a missing model file
-- settings: parameters of the call as readable text
-- parameters: parameters of the call as JSON, keys sorted
-- is_replay: whether the answer came from a file (provider `replay`) and not from a model; of older
--     runs, as their plan says
-- task_set: task set as recorded for the call, else for its run, else the suite
-- attempt: planned repetition of the task, from 1; 1 where not recorded
-- availability_status: ok, skipped_unavailable, auth_error, rate_limited or error; ok where the log
--     holds answered calls only
-- success: whether the model answered without an error; true where the log holds answered calls
--     only
-- latency_ms: e2e_ms, else duration_seconds, in milliseconds; NULL for an answer from a cache
-- cost_usd: cost of the call as recorded, US dollars; NULL if unknown
-- is_cached: whether the answer came from the tool's cache: it counts for quality, but neither its
--     time nor its cost is the model's
-- n_draws: calls made for the result: the last, its retries, and those of results that it stands in
--     for, which are repeated only on request
-- duplicate_of: run in which this same call is counted; NULL if it is counted here
SELECT
    suite,
    run_id,
    generation,
    result_id,
    seq,
    run_date,
    recorded_date,
    provider,
    model,
    is_replay,
    recorded_model,
    is_resolved,
    model_path,
    settings,
    parameters,
    thinking_level,
    task_set,
    task_id,
    task_name,
    task_hash,
    prompt,
    template_hash,
    attempt,
    availability_status,
    success,
    failure_type,
    started_at,
    ended_at,
    e2e_ms,
    ttft_ms,
    duration_seconds,
    latency_ms,
    input_tokens,
    output_tokens,
    cost_usd,
    cost_source,
    is_cached,
    raw_output,
    raw_output_truncated,
    answer,
    parsed_output,
    is_correct,
    objective_pass,
    violation,
    scorer,
    tool_calls,
    tool_call_count,
    tool_use_success,
    retries,
    n_draws,
    requested,
    sent,
    duplicate_of,
    record_keys,
    extra,
    source,
    file_sha256,
    batch
FROM scores.resolved_results
