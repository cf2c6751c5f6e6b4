-- What each item of a task set is worth, by its verdicts: how hard it is, and whether the systems that pass
-- more of the other items pass it more often. `evalstore items` adds tests, answers and evidence. Adaptive
-- runs do not count for pass_rate and discrimination, since they ask able systems hard items and weak ones
-- easy items; for all else they do.
-- grain: suite × task set × item
-- inherits: item_responses
-- first: task_id, status, pass_rate, discrimination, n_systems
-- task_id: the task; the first by name where the set asks the item several times
-- n_systems: systems with a verdict of the item
-- n_attempts: attempts with an outcome
-- n_unjudged: attempts of these systems without a verdict, which the figures leave out
-- pass_rate: mean over the systems of the share of attempts that passed; NULL if all runs were adaptive
-- pass_rate_low, pass_rate_high: 95 % interval of the pass rate (Wilson, for the number of its systems)
-- discrimination: correlation over the systems of that share with their mean share of the other items; NULL
--     below 3 systems, if all have the same share, or where some were not asked all items of the set: then
--     `evalstore items` estimates it with how able the systems are that were asked
-- status: `dead` where no attempt of two systems or more passed, `saturated` where all did, else `live`;
--     NULL where only one system was asked
WITH cells AS (
    SELECT
        suite,
        task_set,
        item,
        system,
        min(task_id) AS task_id,
        CAST(sum(n_attempts) AS BIGINT) AS n_attempts,
        CAST(sum(n_unjudged) AS BIGINT) AS n_unjudged,
        sum(n_passed) / sum(n_attempts) AS any_share,
        if(bool_or(is_adaptive), NULL, any_share) AS share
    FROM item_responses
    WHERE metric = 'passed' AND scorer IS NULL AND filter IS NULL
    GROUP BY suite, task_set, item, system
    HAVING sum(n_attempts) > 0
),

-- Asked different items, systems cannot be compared by their totals.
sets AS (
    SELECT suite, task_set, count(*) = count(DISTINCT system) * count(DISTINCT item) AS is_complete
    FROM cells
    WHERE share IS NOT NULL
    GROUP BY suite, task_set
),

totals AS (
    SELECT suite, task_set, system, exact_sum(share) AS total, count(*) AS n_items
    FROM cells
    GROUP BY suite, task_set, system
),

rested AS (
    SELECT
        cells.*,
        CASE WHEN is_complete THEN (total - share) / nullif(n_items - 1, 0) END AS rest
    FROM cells
    LEFT JOIN sets USING (suite, task_set)
    JOIN totals USING (suite, task_set, system)
),

items AS (
    SELECT
        suite,
        task_set,
        item,
        min(task_id) AS task_id,
        count(*) AS n_systems,
        count(share) AS n_rated,
        CAST(sum(n_attempts) AS BIGINT) AS n_attempts,
        CAST(sum(n_unjudged) AS BIGINT) AS n_unjudged,
        max(any_share) AS most_passed,
        min(any_share) AS least_passed,
        exact_mean(share) AS pass_rate,
        exact_mean(share * rest) - exact_mean(share) * exact_mean(rest) AS covariance,
        exact_mean(share ** 2) - exact_mean(share) ** 2 AS share_variance,
        exact_mean(rest ** 2) - exact_mean(rest) ** 2 AS rest_variance
    FROM rested
    GROUP BY suite, task_set, item
)

SELECT
    suite,
    task_set,
    task_id,
    item,
    n_systems,
    n_attempts,
    n_unjudged,
    pass_rate,
    wilson_low(pass_rate * n_rated, n_rated) AS pass_rate_low,
    wilson_high(pass_rate * n_rated, n_rated) AS pass_rate_high,
    CASE
        WHEN n_rated >= 3 AND share_variance > 1e-12 AND rest_variance > 1e-12
            THEN greatest(-1.0, least(1.0, covariance / sqrt(share_variance * rest_variance)))
    END AS discrimination,
    CASE
        WHEN n_systems < 2 THEN NULL
        WHEN most_passed = 0 THEN 'dead'
        WHEN least_passed = 1 THEN 'saturated'
        ELSE 'live'
    END AS status
FROM items
ORDER BY suite, task_set, round(discrimination, 9) NULLS LAST, pass_rate, task_id
