SELECT
    'openai_evals' AS suite,
    true AS records_limit,
    true AS verdict_is_score,
    'ModelBasedClassify' AS judge_scorers
