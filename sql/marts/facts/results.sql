-- Every model call, with the model's name and settings resolved.
-- grain: result
-- inherits: lake.results
-- run_date: local date in the log, else the UTC day of the call
-- provider: way to reach the model: as recorded, else as the model file says
-- model: name of the model: as recorded, else as the model file says, else the file's path
-- recorded_model: name of the model, exactly as recorded
-- is_resolved: whether the model's name is known, rather than only the path of a missing model file
-- settings: parameters of the call as readable text
-- parameters: parameters of the call as JSON, keys sorted
-- task_set: task set as recorded for the call, else for its run, else the suite
-- attempt: planned repetition of the task, from 1; 1 where not recorded
-- availability_status: ok, skipped_unavailable, auth_error, rate_limited or error; ok where the log
--     holds answered calls only
-- success: whether the model answered without an error; true where the log holds answered calls
--     only
-- latency_ms: e2e_ms, else duration_seconds, in milliseconds
-- duplicate_of: run in which this same call is counted; NULL if it is counted here
WITH model_files AS (
    SELECT model_path, name, provider, parameters, settings, is_unresolved
    FROM models
    WHERE is_current
),

-- Logs may name the task set only for the whole run, or it was given at a later import.
run_task_sets AS (
    SELECT suite, run_id, arg_min(task_set, content_id) AS task_set
    FROM lake.runs
    WHERE task_set IS NOT NULL
    GROUP BY suite, run_id
),

stood_in_for AS (
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
    coalesce(calls.run_date, CAST(CAST(calls.started_at AS DATE) AS VARCHAR)) AS run_date,
    coalesce(calls.provider, model_files.provider) AS provider,
    coalesce(calls.model, model_files.name, calls.model_path) AS model,
    calls.model AS recorded_model,
    calls.model IS NOT NULL OR coalesce(NOT model_files.is_unresolved, false) AS is_resolved,
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
    coalesce(calls.task_set, run_task_sets.task_set, calls.suite) AS task_set,
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
    coalesce(CAST(calls.e2e_ms AS DOUBLE), calls.duration_seconds * 1000) AS latency_ms,
    calls.input_tokens,
    calls.output_tokens,
    calls.cost_usd,
    calls.cost_source,
    calls.raw_output,
    calls.raw_output_truncated,
    calls.answer,
    calls.parsed_output,
    calls.is_correct,
    calls.objective_pass,
    calls.violation,
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
LEFT JOIN model_files ON calls.model_path = model_files.model_path
LEFT JOIN run_task_sets
    ON calls.suite = run_task_sets.suite
    AND calls.run_id = run_task_sets.run_id
LEFT JOIN scores.duplicate_calls AS duplicates
    ON calls.suite = duplicates.suite
    AND calls.run_id = duplicates.run_id
    AND calls.content_id = duplicates.content_id
