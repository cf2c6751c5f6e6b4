SELECT 'lm-eval' AS suite, true AS records_limit
