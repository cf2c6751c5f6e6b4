-- The imported summary.json of each run: of several files that of most results.
-- grain: run
-- inherits: lake.runs
SELECT run_id, task_set, recorded_summary, content_id, file_sha256, batch
FROM lake.runs
WHERE suite = 'openclaw' AND recorded_summary IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY source_rows DESC NULLS LAST, content_id) = 1
