WITH summaries AS (
    SELECT run_id, recorded_summary
    FROM lake.runs
    WHERE suite = 'openclaw' AND recorded_summary IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY run_id ORDER BY source_rows DESC NULLS LAST, content_id
    ) = 1
),

fields AS (
    SELECT unnest([
        'n_total', 'n_ok', 'n_success', 'n_skipped_unavailable', 'n_rate_limited', 'n_error',
        'success_rate_ok', 'objective_pass_rate', 'wall_clock_ms',
        'latency_ms.p50', 'latency_ms.p95', 'latency_ms.p99', 'latency_ms.mean'
    ]) AS field
    UNION ALL
    SELECT unnest(['resources_before.', 'resources_after.']) || leaf
    FROM (
        SELECT unnest([
            'path', 'mem_total', 'mem_used', 'mem_free', 'mem_shared', 'mem_buff_cache',
            'mem_available', 'disk_root.fs', 'disk_root.size', 'disk_root.used',
            'disk_root.avail', 'disk_root.use_pct', 'ollama_store_du', 'ollama_ps'
        ]) AS leaf
    )
),

recorded_groups AS (
    SELECT run_id, unnest(json_extract(recorded_summary, '$.models[*]')) AS document
    FROM summaries
),

computed_groups AS (
    SELECT
        run_id,
        provider,
        model,
        thinking_level,
        json_object(
            'n_total', n_total,
            'n_ok', n_ok,
            'n_success', n_success,
            'n_skipped_unavailable', n_skipped_unavailable,
            'n_rate_limited', n_rate_limited,
            'n_error', n_error,
            'success_rate_ok', success_rate_ok,
            'objective_pass_rate', objective_pass_rate,
            'wall_clock_ms', wall_clock_ms,
            'latency_ms', json_object('p50', p50_ms, 'p95', p95_ms, 'p99', p99_ms, 'mean', mean_ms),
            'resources_before', CAST(resources_before AS JSON),
            'resources_after', CAST(resources_after AS JSON)
        ) AS document
    FROM scores.all_openclaw_summary
    SEMI JOIN summaries USING (run_id)
),

wall_clocks AS (
    SELECT run_id, epoch_ms(max(ended_at)) - epoch_ms(min(started_at)) AS wall_clock_ms
    FROM lake.results
    WHERE suite = 'openclaw'
    GROUP BY run_id
),

figures AS (
    SELECT
        run_id,
        document ->> '$.provider' AS provider,
        document ->> '$.model' AS model,
        document ->> '$.thinking_level' AS thinking_level,
        field,
        json_extract_string(document, '$.' || field) AS recorded,
        NULL AS computed
    FROM recorded_groups CROSS JOIN fields
    UNION ALL
    SELECT
        run_id, provider, model, thinking_level, field,
        NULL,
        json_extract_string(document, '$.' || field)
    FROM computed_groups CROSS JOIN fields
    UNION ALL
    SELECT
        summaries.run_id, NULL, NULL, NULL, 'run_wall_clock_ms',
        json_extract_string(recorded_summary, '$.run_wall_clock_ms'),
        CAST(wall_clock_ms AS VARCHAR)
    FROM summaries LEFT JOIN wall_clocks ON summaries.run_id = wall_clocks.run_id
),

pairs AS (
    SELECT
        run_id, provider, model, thinking_level, field,
        max(recorded) AS recorded,
        max(computed) AS computed
    FROM figures
    WHERE recorded IS NOT NULL OR computed IS NOT NULL
    GROUP BY run_id, provider, model, thinking_level, field
)

SELECT
    run_id,
    provider,
    model,
    thinking_level,
    field,
    recorded,
    computed,
    recorded IS NOT DISTINCT FROM computed OR coalesce(
        abs(try_cast(recorded AS DOUBLE) - try_cast(computed AS DOUBLE))
        <= 1e-12 * greatest(1, abs(try_cast(recorded AS DOUBLE))),
        false
    ) AS agrees
FROM pairs
ORDER BY run_id, provider NULLS FIRST, model, coalesce(thinking_level, 'None'), field
