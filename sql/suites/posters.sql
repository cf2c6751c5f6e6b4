-- Of the some twenty scores app_quality and app_core sum up the others.
SELECT
    'posters' AS suite,
    true AS declares_versions,
    'app_quality' AS main_metric,
    ['app_quality', 'app_core'] AS percent_metrics,
    ['app_quality', 'app_core', 'passed'] AS headline_metrics,
    'dataset_hashes' AS prompts_hash,
    true AS needs_seed
