-- What HELM counts for each call is minor: tokens, references, reasons to stop, times.
SELECT
    'helm' AS suite,
    true AS records_limit,
    true AS repeats_calls,
    'instances' AS own_audit,
    true AS judge_in_metric,
    '^(num_|max_num_|finish_reason_|training_|inference_|estimated_)'
    || '|^(batch_size|logprob|max_prob|predicted_index|prompt_truncated)$' AS minor_metrics
