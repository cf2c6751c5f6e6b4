-- The scores of which less is better, as error rates, by what the logs say; not those on which they
-- contradict each other.
-- grain: suite × task set × metric
-- inherits: reported_metrics
-- metric: name of the score; never the verdict
-- is_lesser: true
SELECT
    suite,
    task_set,
    coalesce(score, metric) AS metric,
    true AS is_lesser
FROM lake.reported_metrics
WHERE
    higher_is_better IS NOT NULL
    AND task_set IS NOT NULL
    AND coalesce(score, metric) <> 'passed'
GROUP BY ALL
HAVING NOT bool_or(higher_is_better)
