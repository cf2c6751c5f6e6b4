-- The fields of a group of models in summary.json.
-- grain: field
-- field: path in the group's object: latency_ms.p50, resources_before.mem_used
-- is_of_calls: whether the field follows from the group's calls rather than from a snapshot
WITH of_calls AS (
    SELECT unnest([
        'n_total', 'n_ok', 'n_success', 'n_skipped_unavailable', 'n_rate_limited', 'n_error',
        'success_rate_ok', 'objective_pass_rate', 'wall_clock_ms',
        'latency_ms.p50', 'latency_ms.p95', 'latency_ms.p99', 'latency_ms.mean'
    ]) AS field
),

phases AS (
    SELECT unnest(['resources_before', 'resources_after']) AS phase
),

of_snapshots AS (
    SELECT unnest([
        'path', 'mem_total', 'mem_used', 'mem_free', 'mem_shared', 'mem_buff_cache',
        'mem_available', 'disk_root.fs', 'disk_root.size', 'disk_root.used',
        'disk_root.avail', 'disk_root.use_pct', 'ollama_store_du', 'ollama_ps'
    ]) AS field
)

SELECT field, true AS is_of_calls
FROM of_calls
UNION ALL
SELECT phase || '.' || field AS field, false AS is_of_calls
FROM phases CROSS JOIN of_snapshots
