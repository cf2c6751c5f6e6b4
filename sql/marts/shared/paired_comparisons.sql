-- Two models on the tasks that both did: how often each passed them. Of each model, the run on
-- the leaderboard counts, attempts averaged; a call without an answer did not pass.
-- grain: suite × task set × pair of models (provider × model × settings), a before b
-- inherits: score_comparisons
-- blocks: suite, task_set
-- first: model_a, settings_a, model_b, settings_b, p_value, pass_rate_difference, p_holm,
--     n_tasks, n_only_a, n_only_b, provider_a, provider_b
-- n_tasks: tasks on which both have an outcome
-- n_clusters: clusters of these tasks, where some depend on each other: the test is then of clusters; NULL
--     where none is known to
-- n_attempts_a: calls of the first model behind its rates
-- n_attempts_b: calls of the second model behind its rates
-- n_both: tasks that both passed, equally often
-- n_only_a: tasks that only the first model passed, or that it passed more often
-- n_only_b: tasks that only the second model passed, or that it passed more often
-- n_neither: tasks that neither passed
-- pass_rate_a: pass rate of the first model: the mean over these tasks
-- pass_rate_b: pass rate of the second model
-- pass_rate_difference: pass rate of the first model minus that of the second, over these tasks
-- pass_rate_difference_low: lower end of the 95 % interval of the difference, the test inverted; NULL
--     below 6 tasks or clusters, and on boards of more than 20 models
-- pass_rate_difference_high: upper end of that interval
-- test: as in `evalstore compare`: `score`, or `bounded_mean` where a task was attempted several times
--     or tasks are in clusters
-- p_value: two-sided p-value; NULL on boards of more than 100 models
-- p_missing: p-value with every missing verdict counted against the model that is ahead, 1 if it then is
--     not; NULL where none is missing
-- p_mcnemar: McNemar's exact p-value, for reference; NULL where the test is not `score`
-- p_holm: the larger of p_value and p_missing, adjusted for all pairs of the task set (Holm 1979, Scand. J. Statist. 6, 65); NULL
--     below 6 tasks or clusters, where no data could be significant
SELECT
    suite,
    task_set,
    provider_a,
    model_a,
    settings_a,
    provider_b,
    model_b,
    settings_b,
    n_tasks,
    n_clusters,
    n_attempts_a,
    n_attempts_b,
    n_both,
    n_better_a AS n_only_a,
    n_better_b AS n_only_b,
    n_neither,
    mean_a AS pass_rate_a,
    mean_b AS pass_rate_b,
    mean_difference AS pass_rate_difference,
    difference_low AS pass_rate_difference_low,
    difference_high AS pass_rate_difference_high,
    test,
    p_value,
    p_missing,
    CASE WHEN test = 'score' THEN mcnemar_p(n_better_a, n_better_b) END AS p_mcnemar,
    p_holm
FROM scores.compared_pairs
WHERE metric = 'passed' AND scorer IS NULL AND filter IS NULL
ORDER BY
    suite, task_set, p_value NULLS LAST, model_a, settings_a, model_b, settings_b, provider_a,
    provider_b
