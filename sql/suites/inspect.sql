-- Means cover NaN in logs of older versions. A scorer that is used twice has a number after its name.
SELECT
    'inspect' AS suite,
    true AS derives_task_set_hash,
    true AS records_limit,
    true AS counts_nan,
    '(inspect_ai/)?model_graded_(qa|fact)[0-9]*' AS judge_scorers,
    'Grade not found in model output' AS unread_reply
