SELECT 'judge_bench' AS suite, 'votes' AS own_audit
