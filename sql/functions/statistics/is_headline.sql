-- Whether a metric is one of those by which models are ranked and compared at first sight. All scores
-- of logs are; of the some twenty scores of posters only app_quality and app_core, which sum them up;
-- and not the use of tools in openclaw, for which there are tool tiers; and not what HELM counts for
-- each call: tokens, references, reasons to stop, times.
CREATE OR REPLACE MACRO is_headline(suite, metric) AS
    CASE suite
        WHEN 'posters' THEN metric IN ('app_quality', 'app_core', 'passed')
        WHEN 'openclaw' THEN metric <> 'tool_use'
        WHEN 'helm' THEN NOT regexp_matches(metric, '^(num_|max_num_|finish_reason_|training_|inference_|estimated_)')
            AND metric NOT IN (
                'batch_size', 'logprob', 'max_prob', 'predicted_index', 'prompt_truncated'
            )
        ELSE true
    END
