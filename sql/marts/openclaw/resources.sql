-- The system's resources before and after each model's suite, as the system's programs print them.
-- grain: run × tag
-- inherits: lake.resources
-- mem_total: total memory
-- mem_used_before: used memory before the suite
-- mem_used_after: used memory after the suite
-- disk_size: size of the root file system
-- disk_used_before: used share of the root file system before the suite
-- disk_used_after: used share of the root file system after the suite
-- store_before: size of the models' folder before the suite
-- store_after: size of the models' folder after the suite
SELECT
    suite,
    run_id,
    tag,
    max(json_extract_string(parsed, '$.mem_total')) AS mem_total,
    max(json_extract_string(parsed, '$.mem_used')) FILTER (phase = 'before') AS mem_used_before,
    max(json_extract_string(parsed, '$.mem_used')) FILTER (phase = 'after') AS mem_used_after,
    max(json_extract_string(parsed, '$.disk_root.size')) AS disk_size,
    max(json_extract_string(parsed, '$.disk_root.use_pct'))
        FILTER (phase = 'before') AS disk_used_before,
    max(json_extract_string(parsed, '$.disk_root.use_pct'))
        FILTER (phase = 'after') AS disk_used_after,
    max(json_extract_string(parsed, '$.ollama_store_du'))
        FILTER (phase = 'before') AS store_before,
    max(json_extract_string(parsed, '$.ollama_store_du')) FILTER (phase = 'after') AS store_after
FROM snapshots
WHERE is_latest
GROUP BY suite, run_id, tag
ORDER BY suite, run_id, tag
