-- Two models on the tasks that both were scored on, by every metric but the verdict, which is in
-- paired_comparisons; of the scores of posters, by app_quality and app_core. Of each model, the run
-- on the leaderboard counts, attempts averaged.
-- grain: suite × task set × metric × scorer × filter × pair of models (provider × model × settings),
--     a before b
-- inherits: metrics
-- blocks: suite, task_set
-- first: model_a, settings_a, model_b, settings_b, metric, mean_difference, p_value, n_tasks, mean_a,
--     mean_b, p_holm, difference_low, difference_high
-- metric: the score that is compared; of posters, app_quality comes first
-- provider_a: provider of the first model
-- settings_a: settings of the first model
-- run_a: run of the first model, the latest if its scores are of several
-- provider_b: provider of the second model
-- settings_b: settings of the second model
-- run_b: run of the second model, the latest if its scores are of several
-- n_tasks: tasks on which both have a score
-- n_clusters: clusters of these tasks, where some depend on each other: the test is then of clusters; NULL
--     where none is known to
-- n_attempts_a: scores of the first model behind its mean
-- n_attempts_b: scores of the second model behind its mean
-- n_better_a: tasks on which the first model has the higher score
-- n_better_b: tasks on which the second model has the higher score
-- mean_a: mean score of the first model over these tasks
-- mean_b: mean score of the second model over these tasks
-- mean_difference: mean score of the first model minus that of the second
-- difference_low: lower end of the 95 % interval of the mean difference, the test inverted; NULL below
--     6 tasks, and on boards of more than 20 models
-- difference_high: upper end of that interval
-- test: as in `evalstore compare`: `score`, `bounded_mean` or `sign_flip`
-- p_value: two-sided p-value; NULL on boards of more than 100 models
-- p_holm: p_value adjusted for all pairs of the task set and metric (Holm 1979, Scand. J. Statist. 6,
--     65); NULL below 6 tasks or clusters, where no data could be significant
SELECT
    suite,
    task_set,
    metric,
    scorer,
    filter,
    provider_a,
    model_a,
    settings_a,
    run_a,
    provider_b,
    model_b,
    settings_b,
    run_b,
    n_tasks,
    n_clusters,
    n_attempts_a,
    n_attempts_b,
    n_better_a,
    n_better_b,
    mean_a,
    mean_b,
    mean_difference,
    difference_low,
    difference_high,
    test,
    p_value,
    p_holm
FROM scores.compared_pairs
WHERE
    metric <> 'passed' OR scorer IS NOT NULL OR filter IS NOT NULL
ORDER BY
    suite, task_set, metric <> 'app_quality', metric, scorer, filter, p_value NULLS LAST,
    model_a, settings_a, model_b, settings_b, provider_a, provider_b
