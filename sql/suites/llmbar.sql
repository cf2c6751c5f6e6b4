SELECT 'llmbar' AS suite, 'votes' AS own_audit
