-- How hard each item of a task set is, by its verdicts, and which items tell no systems apart: the same figures
-- as `evalstore items` has, which adds discrimination, tests, answers and evidence.
-- grain: suite × task set × item
-- inherits: item_responses
-- first: task_id, status, pass_rate, pass_rate_low, pass_rate_high, n_systems
-- task_id: the task; the first by name where the set asks the item several times
-- n_systems: systems with a verdict of the item
-- n_attempts: attempts with an outcome
-- n_unjudged: attempts of these systems without a verdict, which the figures leave out
-- pass_rate: mean over the systems of the share of attempts that passed
-- pass_rate_low, pass_rate_high: 95 % interval of the pass rate (Wilson, for the number of systems)
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
        sum(n_passed) / sum(n_attempts) AS share
    FROM item_responses
    WHERE metric = 'passed' AND scorer IS NULL AND filter IS NULL
    GROUP BY suite, task_set, item, system
    HAVING sum(n_attempts) > 0
),

items AS (
    SELECT
        suite,
        task_set,
        item,
        min(task_id) AS task_id,
        count(*) AS n_systems,
        CAST(sum(n_attempts) AS BIGINT) AS n_attempts,
        CAST(sum(n_unjudged) AS BIGINT) AS n_unjudged,
        exact_mean(share) AS pass_rate
    FROM cells
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
    wilson_low(pass_rate * n_systems, n_systems) AS pass_rate_low,
    wilson_high(pass_rate * n_systems, n_systems) AS pass_rate_high,
    CASE
        WHEN n_systems < 2 THEN NULL
        WHEN pass_rate = 0 THEN 'dead'
        WHEN pass_rate = 1 THEN 'saturated'
        ELSE 'live'
    END AS status
FROM items
ORDER BY suite, task_set, pass_rate, task_id
