SELECT 'alpaca_eval' AS suite, 'votes' AS own_audit
