-- The scores of which less is better, as error rates, by what the logs say; not those on which they
-- contradict each other.
-- grain: suite × task set × metric
-- inherits: reported_metrics
-- metric: name of the score; never the verdict
-- is_lesser: true
WITH stated AS (
    SELECT suite, run_id, task_set, coalesce(score, metric) AS metric, higher_is_better
    FROM lake.reported_metrics
    WHERE
        higher_is_better IS NOT NULL
        AND task_group IS NULL
        AND coalesce(score, metric) <> 'passed'
)

SELECT
    stated.suite,
    coalesce(stated.task_set, runs.task_set) AS task_set,
    stated.metric,
    true AS is_lesser
FROM stated
-- A figure of all samples of its run is of the task sets that they are of.
LEFT JOIN (
    SELECT DISTINCT suite, run_id, task_set FROM scores.setups
) AS runs
    ON stated.suite = runs.suite
    AND stated.run_id = runs.run_id
    AND stated.task_set IS NULL
WHERE coalesce(stated.task_set, runs.task_set) IS NOT NULL
GROUP BY ALL
HAVING NOT bool_or(stated.higher_is_better)
