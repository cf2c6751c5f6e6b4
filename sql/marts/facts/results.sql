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
-- duplicate_of: run in which this same call is counted; NULL if it is counted here
WITH stood_in_for AS (
    SELECT suite, run_id, stands_in_for AS content_id
    FROM lake.results
    WHERE stands_in_for IS NOT NULL
)

SELECT
    calls.suite,
    calls.run_id,
    calls.generation,
    calls.content_id AS result_id,
    calls.seq,
    coalesce(calendar_date(calls.run_date), CAST(calls.started_at AS DATE)) AS run_date,
    calls.run_date AS recorded_date,
    CASE
        WHEN calls.provider IS NULL AND list_contains(headers.replayed_models, calls.model)
            THEN 'replay'
        ELSE coalesce(calls.provider, model_files.provider)
    END AS provider,
    coalesce(calls.model, headers.model, model_files.name, calls.model_path) AS model,
    coalesce(
        calls.provider = 'replay', list_contains(headers.replayed_models, calls.model), false
    ) AS is_replay,
    coalesce(calls.model, headers.model) AS recorded_model,
    coalesce(calls.model, headers.model) IS NOT NULL
        OR coalesce(NOT model_files.is_unresolved, false) AS is_resolved,
    calls.model_path,
    -- Building the text dominates this query's time, and most calls have no parameters.
    CASE
        WHEN calls.settings IS NULL AND model_files.settings IS NULL
            THEN coalesce('thinking_level ' || calls.thinking_level, '')
        ELSE concat_ws(
            ', ',
            'thinking_level ' || calls.thinking_level,
            nullif(coalesce(settings_text(calls.settings), model_files.settings), '')
        )
    END AS settings,
    coalesce(calls.settings, model_files.parameters, '{}') AS parameters,
    calls.thinking_level,
    -- Some logs name the task set only for the whole run, and a later import can add it.
    coalesce(calls.task_set, headers.task_set, calls.suite) AS task_set,
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
    calls.requested,
    calls.sent,
    duplicates.counted_in AS duplicate_of,
    calls.record_keys,
    calls.extra,
    calls.source,
    calls.file_sha256,
    calls.batch
FROM lake.results AS calls
ANTI JOIN stood_in_for USING (suite, run_id, content_id)
LEFT JOIN scores.model_files AS model_files ON calls.model_path = model_files.model_path
LEFT JOIN scores.run_headers AS headers
    ON calls.suite = headers.suite
    AND calls.run_id = headers.run_id
LEFT JOIN scores.duplicate_calls AS duplicates
    ON calls.suite = duplicates.suite
    AND calls.run_id = duplicates.run_id
    AND calls.content_id = duplicates.content_id
