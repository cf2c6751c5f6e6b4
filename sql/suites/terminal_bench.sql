-- Each trial has scores of the tests of its task, which no board compares.
SELECT 'terminal-bench' AS suite, ['passed'] AS headline_metrics
