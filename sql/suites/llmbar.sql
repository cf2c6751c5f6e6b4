-- Its models are called output_1 and output_2, whoever gave the answer.
SELECT 'llmbar' AS suite, 'votes' AS own_audit, true AS hides_models
