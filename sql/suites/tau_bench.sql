-- Each trial has scores of checks of its task, which no board compares.
SELECT 'tau-bench' AS suite, ['passed'] AS headline_metrics
