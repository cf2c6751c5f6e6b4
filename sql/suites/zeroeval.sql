SELECT 'zeroeval' AS suite, 'votes' AS own_audit
