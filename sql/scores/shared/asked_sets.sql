-- Which tasks a model was asked in a run, in which text, and how their costs vary.
-- by_run
-- grain: run × provider × model × settings × task set
-- inherits: scores.task_facts
-- n_tasks: tasks asked
-- asked: hash of the tasks and their contents, equal for runs that asked the same ones
-- is_answered: whether any call gave an answer
-- is_judged: whether any attempt at any task has a verdict
-- is_first_only: whether only first attempts count, because the run repeated tasks until they
--     passed, which means: ten tasks or more have several attempts, each of which ends with its first
--     pass or never passed; every task with a single attempt passed; and both kinds are there
-- n_priced: tasks of known cost; see ratio_error for what this and the following are for
-- n_priced_passed: tasks among them of which an attempt of known cost passed
-- cost_squares: sum of the squares of their costs
-- cost_products: sum of their costs times such attempts
-- passed_squares: sum of the squares of the numbers of such attempts
SELECT
    suite,
    run_id,
    task_set,
    entry,
    count(*) AS n_tasks,
    bit_xor(hash(text_hash(task_id), text_hash(task_hash))) AS asked,
    sum(n_results) > sum(n_unanswered) AS is_answered,
    max(n_judged) > 0 AS is_judged,
    count(*) FILTER (n_results > 1) >= 10
    AND count(*) FILTER (n_results > 1 AND last_passed) > 0
    AND count(*) FILTER (n_results = 1) > 0
    AND bool_and(if(n_results = 1, coalesce(last_passed, false),
        n_passed = 0 OR (n_passed = 1 AND last_passed))) AS is_first_only,
    count(cost_usd) AS n_priced,
    count(*) FILTER (n_passed_of_known_cost > 0) AS n_priced_passed,
    fsum(cost_usd * cost_usd ORDER BY task) AS cost_squares,
    fsum(cost_usd * n_passed_of_known_cost ORDER BY task) AS cost_products,
    CAST(sum(n_passed_of_known_cost * n_passed_of_known_cost) AS BIGINT) AS passed_squares
FROM scores.task_facts
WHERE NOT is_replay
GROUP BY suite, run_id, task_set, entry
-- Runs that only repeat calls of another run are not runs of their own.
HAVING max(n_counted) > 0
