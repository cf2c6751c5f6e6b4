-- The steps of trials: messages, calls of models and of tools, events, as their logs record them.
-- grain: result × step
-- inherits: lake.steps
-- first: run_id, result_id, seq, agent, kind, name, text, error
-- is_copied: whether the step repeats one of an earlier trajectory: it does not count
-- step_row_id: id of the row
SELECT
    suite,
    run_id,
    result_id,
    seq,
    trajectory,
    step_id,
    parent_id,
    agent,
    kind,
    role,
    name,
    model,
    started_at,
    ended_at,
    input_tokens,
    cached_tokens,
    output_tokens,
    reasoning_tokens,
    cost_usd,
    text,
    reasoning,
    call_id,
    arguments,
    error,
    exit_code,
    coalesce(is_copied, false) AS is_copied,
    coalesce(is_counted, true) AS is_counted,
    first_message,
    last_message,
    extra,
    content_id AS step_row_id,
    file_sha256,
    batch
FROM lake.steps
UNION ALL BY NAME
SELECT
    * EXCLUDE (content_id),
    NULL AS reasoning,
    false AS is_copied,
    true AS is_counted,
    NULL AS first_message,
    NULL AS last_message,
    NULL AS extra,
    content_id AS step_row_id,
    NULL AS file_sha256,
    NULL AS batch
FROM scores.inspect_steps
