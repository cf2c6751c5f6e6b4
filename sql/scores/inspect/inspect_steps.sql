-- The steps of Inspect's samples: their events, as columns. A span of an agent inside another agent's is a
-- trajectory of its own.
-- by_run
-- grain: result × event
-- inherits: lake.steps, scores.inspect_events
WITH RECURSIVE events AS MATERIALIZED (
    SELECT
        * EXCLUDE (event),
        json_extract_string(event, '$.event') AS event_type,
        json_extract_string(event, '$.span_id') AS span_id,
        event
    FROM scores.inspect_events
),

spans AS MATERIALIZED (
    SELECT
        suite,
        run_id,
        result_id,
        json_extract_string(event, '$.id') AS span_id,
        json_extract_string(event, '$.parent_id') AS parent_id,
        CASE WHEN json_extract_string(event, '$.type') = 'agent'
            THEN json_extract_string(event, '$.name') END AS agent
    FROM events
    WHERE event_type = 'span_begin'
),

-- Of each span, the innermost agent around it, and the span of that one if it is a sub-agent.
owners AS (
    SELECT
        suite,
        run_id,
        result_id,
        span_id,
        agent,
        NULL::VARCHAR AS trajectory
    FROM spans
    WHERE parent_id IS NULL
    UNION ALL
    SELECT
        spans.suite,
        spans.run_id,
        spans.result_id,
        spans.span_id,
        coalesce(spans.agent, owners.agent),
        CASE
            WHEN spans.agent IS NOT NULL AND owners.agent IS NOT NULL THEN spans.span_id
            ELSE owners.trajectory
        END
    FROM spans
    JOIN owners
        ON spans.suite = owners.suite
        AND spans.run_id = owners.run_id
        AND spans.result_id = owners.result_id
        AND spans.parent_id = owners.span_id
),

parts AS (
    SELECT
        *,
        CASE event_type
            WHEN 'model' THEN json_extract(event, '$.output.choices[0].message.content')
            WHEN 'tool' THEN json_extract(event, '$.result')
            WHEN 'sandbox' THEN json_extract(event, '$.output')
            WHEN 'score' THEN json_extract(event, '$.score.explanation')
            WHEN 'error' THEN json_extract(event, '$.error.message')
            WHEN 'logger' THEN json_extract(event, '$.message.message')
            WHEN 'sample_limit' THEN json_extract(event, '$.message')
            WHEN 'info' THEN json_extract(event, '$.data')
        END AS content
    FROM events
)

SELECT
    parts.suite,
    parts.run_id,
    parts.result_id,
    parts.seq,
    parts.result_id || '#' || parts.seq AS content_id,
    owners.trajectory,
    coalesce(
        CASE WHEN parts.event_type = 'span_begin' THEN json_extract_string(parts.event, '$.id') END,
        json_extract_string(parts.event, '$.uuid'),
        parts.seq::VARCHAR
    ) AS step_id,
    CASE
        WHEN parts.event_type = 'span_begin' THEN json_extract_string(parts.event, '$.parent_id')
        ELSE parts.span_id
    END AS parent_id,
    owners.agent,
    CASE
        WHEN parts.event_type = 'span_begin'
            AND json_extract_string(parts.event, '$.type') = 'agent' THEN 'agent'
        WHEN parts.event_type IN ('model', 'tool', 'sandbox', 'compaction', 'error')
            THEN parts.event_type
        WHEN parts.event_type = 'score' THEN 'eval'
        WHEN parts.event_type = 'input' THEN 'user'
        ELSE 'other'
    END AS kind,
    json_extract_string(parts.event, '$.role') AS role,
    CASE parts.event_type
        WHEN 'tool' THEN json_extract_string(parts.event, '$.function')
        WHEN 'sandbox' THEN json_extract_string(parts.event, '$.action')
        WHEN 'score' THEN json_extract_string(parts.event, '$.scorer')
        WHEN 'span_begin' THEN json_extract_string(parts.event, '$.name')
        WHEN 'model' THEN NULL
        ELSE parts.event_type
    END AS name,
    CASE WHEN parts.event_type = 'model' THEN json_extract_string(parts.event, '$.model') END AS model,
    try_cast(json_extract_string(parts.event, '$.timestamp') AS TIMESTAMPTZ) AT TIME ZONE 'UTC'
        AS started_at,
    try_cast(json_extract_string(parts.event, '$.completed') AS TIMESTAMPTZ) AT TIME ZONE 'UTC'
        AS ended_at,
    try_cast(json_extract_string(parts.event, '$.output.usage.input_tokens') AS BIGINT) AS input_tokens,
    try_cast(json_extract_string(parts.event, '$.output.usage.input_tokens_cache_read') AS BIGINT)
        AS cached_tokens,
    try_cast(json_extract_string(parts.event, '$.output.usage.output_tokens') AS BIGINT) AS output_tokens,
    try_cast(json_extract_string(parts.event, '$.output.usage.reasoning_tokens') AS BIGINT)
        AS reasoning_tokens,
    try_cast(json_extract_string(parts.event, '$.output.usage.total_cost') AS DOUBLE) AS cost_usd,
    nullif(attached_text(parts.content, parts.attachments), '') AS text,
    CASE WHEN parts.event_type = 'tool' THEN json_extract_string(parts.event, '$.id') END AS call_id,
    CASE
        WHEN parts.event_type = 'tool' THEN CAST(json_extract(parts.event, '$.arguments') AS VARCHAR)
        WHEN parts.event_type = 'sandbox'
            THEN CAST(coalesce(
                json_extract(parts.event, '$.cmd'), json_extract(parts.event, '$.file')
            ) AS VARCHAR)
    END AS arguments,
    CASE
        WHEN parts.event_type = 'error' THEN json_extract_string(parts.event, '$.error.message')
        WHEN parts.event_type = 'model' THEN json_extract_string(parts.event, '$.error')
        WHEN parts.event_type = 'tool' THEN coalesce(
            json_extract_string(parts.event, '$.error.message'),
            CASE WHEN json_extract_string(parts.event, '$.failed')::BOOLEAN
                THEN 'the call raised an exception' END
        )
    END AS error,
    CASE WHEN parts.event_type = 'sandbox'
        THEN try_cast(json_extract_string(parts.event, '$.result') AS BIGINT) END
        AS exit_code
FROM parts
LEFT JOIN owners
    ON parts.suite = owners.suite
    AND parts.run_id = owners.run_id
    AND parts.result_id = owners.result_id
    AND parts.span_id = owners.span_id
