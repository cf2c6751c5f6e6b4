-- For the use of tools there are tool tiers.
SELECT 'openclaw' AS suite, true AS declares_versions, '^tool_use$' AS minor_metrics
