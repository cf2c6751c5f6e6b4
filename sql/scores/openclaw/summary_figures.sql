-- The figures of imported summary.json files.
-- grain: run × position in the summary
-- inherits: scores.recorded_summaries
-- provider: way to reach the model, as recorded; NULL for the whole run
-- model: name of the model, as recorded; NULL for the whole run
-- thinking_level: thinking level, as recorded; NULL for the whole run
-- settings: parameters of the calls, as in results; NULL for the whole run
-- field: path in the group's object: latency_ms.p50, resources_before.mem_used
-- is_of_calls: whether the figure follows from calls rather than from a snapshot
-- recorded: value in the summary, as text
-- n_total: results of the group, as recorded; NULL if it is a figure of a snapshot
-- seq: position of the figure among those of the run, from 1
-- source_id: content_id of the run's record
WITH groups AS (
    SELECT
        * EXCLUDE (recorded_summary),
        unnest(json_extract(recorded_summary, '$.models[*]')) AS document,
        generate_subscripts(json_extract(recorded_summary, '$.models[*]'), 1) AS position
    FROM scores.recorded_summaries
),

figures AS (
    SELECT
        groups.run_id,
        groups.task_set,
        groups.position,
        groups.document ->> '$.provider' AS provider,
        groups.document ->> '$.model' AS model,
        groups.document ->> '$.thinking_level' AS thinking_level,
        coalesce('thinking_level ' || thinking_level, '') AS settings,
        fields.field,
        fields.is_of_calls,
        json_extract_string(groups.document, '$.' || fields.field) AS recorded,
        CASE WHEN fields.is_of_calls THEN try_cast(groups.document ->> '$.n_total' AS BIGINT) END
            AS n_total,
        groups.content_id,
        groups.file_sha256,
        groups.batch
    FROM groups CROSS JOIN scores.summary_fields AS fields
    UNION ALL
    SELECT
        run_id, task_set, 0, NULL, NULL, NULL, NULL,
        'run_wall_clock_ms',
        true,
        json_extract_string(recorded_summary, '$.run_wall_clock_ms'),
        list_sum(try_cast(recorded_summary ->> '$.models[*].n_total' AS BIGINT[])),
        content_id, file_sha256, batch
    FROM scores.recorded_summaries
)

SELECT
    'openclaw' AS suite,
    run_id,
    task_set,
    provider,
    model,
    thinking_level,
    settings,
    field,
    is_of_calls,
    recorded,
    CAST(n_total AS BIGINT) AS n_total,
    row_number() OVER (PARTITION BY run_id ORDER BY position, field) AS seq,
    content_id AS source_id,
    file_sha256,
    batch
FROM figures
WHERE recorded IS NOT NULL
