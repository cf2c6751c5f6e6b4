SELECT 'wildbench' AS suite, 'votes' AS own_audit
