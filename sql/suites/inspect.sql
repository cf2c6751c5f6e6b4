-- Means cover NaN in logs of older versions.
SELECT
    'inspect' AS suite,
    true AS derives_task_set_hash,
    true AS records_limit,
    true AS counts_nan
