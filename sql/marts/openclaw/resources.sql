-- The system's resources before and after each model's suite.
-- grain: run × tag (provider, model and thinking level, as in the names of the snapshots)
-- mem_*, disk_*, store_*: as the system's programs printed them; store: the folder of the models
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
