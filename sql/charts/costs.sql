-- What a call of each model costs, against its score; the front has the models that no other beats
-- in both.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings
-- value: pass rate, else the score
-- cost_usd: mean cost of a call, over the calls of known cost, US dollars
-- is_on_front: whether no other model is as good for less, or better for the same; NULL if cost or
--     value is unknown, or the model was asked other tasks than the rest
WITH models AS (
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
        n_cost_known,
        is_comparable,
        metric = 'passed' AND coalesce(score BETWEEN 0 AND 1, true) AS is_rate,
        coalesce(pass_rate, score) AS value,
        if(is_lesser, -value, value) AS worth,
        total_cost_usd / nullif(n_cost_known, 0) AS cost_usd
    FROM leaderboard
    LEFT JOIN scores.lesser_metrics USING (suite, task_set, metric)
    WHERE
        ($suite IS NULL OR suite = $suite)
        AND ($task_set IS NULL OR task_set = $task_set)
        AND if($metric IS NULL, is_main, metric = $metric)
)

SELECT
    models.* EXCLUDE (worth),
    CASE
        WHEN is_comparable AND value IS NOT NULL AND cost_usd IS NOT NULL THEN NOT EXISTS (
            SELECT 1
            FROM models AS others
            WHERE
                others.is_comparable
                AND others.suite = models.suite
                AND others.task_set = models.task_set
                AND others.metric = models.metric
                AND others.scorer IS NOT DISTINCT FROM models.scorer
                AND others.filter IS NOT DISTINCT FROM models.filter
                AND others.cost_usd <= models.cost_usd
                AND others.worth >= models.worth
                AND (others.cost_usd < models.cost_usd OR others.worth > models.worth)
        )
    END AS is_on_front
FROM models
ORDER BY
    suite, task_set, metric, scorer, filter, cost_usd NULLS LAST, worth DESC, provider, model,
    settings
