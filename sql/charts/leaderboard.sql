-- The models of each task set by its main metric, or by one that is named, best first.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings
-- value: pass rate, else the score
-- remark, min_pass_rate, max_pass_rate: where verdicts are missing, see leaderboard
-- n_unanswered: calls without an answer, where value is a pass rate; else NULL
SELECT
    suite,
    task_set,
    metric,
    scorer,
    filter,
    provider,
    model,
    settings,
    run_id,
    n_tasks,
    n_results,
    CASE WHEN pass_rate IS NOT NULL THEN n_unanswered END AS n_unanswered,
    remark,
    min_pass_rate,
    max_pass_rate,
    is_comparable,
    metric = 'passed' AND coalesce(score BETWEEN 0 AND 1, true) AS is_rate,
    coalesce(pass_rate, score) AS value,
    coalesce(pass_rate_low, score_low) AS value_low,
    coalesce(pass_rate_high, score_high) AS value_high
FROM leaderboard
LEFT JOIN scores.lesser_metrics USING (suite, task_set, metric)
WHERE
    ($suite IS NULL OR suite = $suite)
    AND ($task_set IS NULL OR task_set = $task_set)
    AND if($metric IS NULL, is_main, metric = $metric)
ORDER BY
    suite, task_set, metric, scorer, filter, is_comparable DESC,
    if(is_lesser, -value, coalesce(min_pass_rate, value)) DESC NULLS LAST, provider, model, settings
