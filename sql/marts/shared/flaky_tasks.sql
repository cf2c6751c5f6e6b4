-- The tasks that the same model with the same settings both passed and failed, and whether more models
-- do so than chance explains. By chance, each model is as inconsistent at this task as at its other
-- tasks of the set. A task can be inconsistent because it is ambiguous, because its verdict is, or
-- because a model has changed in the meantime: see `drift`. Verdicts count as in the leaderboard.
-- grain: suite × task set × version of a task, with both outcomes from a model
-- first: task_id, n_flaky, expected_flaky, n_models, p_holm, pass_rate
-- task_hash: content hash of the task's version; NULL if not known
-- n_models: models (provider × model × settings) with two verdicts or more on the task
-- n_flaky: those among them with both outcomes
-- flaky_models: their names, sorted
-- expected_flaky: number of them by chance: the sum over the models of the share of their tasks, asked
--     twice or more, that have both outcomes
-- n_judged: verdicts of these models
-- n_passed: those that passed
-- pass_rate: n_passed / n_judged
-- p_value: probability of as many or more by chance (Poisson binomial distribution)
-- p_holm: adjusted for all tasks of the set that were asked twice or more (Holm 1979)
WITH judged AS (
    SELECT suite, task_set, task_id, task_hash, entry, n_judged, n_passed
    FROM scores.task_facts
    WHERE NOT is_replay AND NOT is_mixed AND n_counted > 0 AND n_judged > 0
    UNION ALL
    -- Of the few facts that hold several versions, or calls of another run, each call.
    SELECT
        calls.suite,
        calls.task_set,
        calls.task_id,
        calls.task_hash,
        calls.entry,
        1 AS n_judged,
        CAST(coalesce(calls.is_correct, calls.objective_pass, calls.computed) AS BIGINT) AS n_passed
    FROM scores.resolved_results AS calls
    SEMI JOIN (FROM scores.task_facts WHERE is_mixed AND NOT is_replay) AS facts
        ON calls.entry = facts.entry
        AND calls.task_id IS NOT DISTINCT FROM facts.task_id
    WHERE calls.duplicate_of IS NULL AND n_passed IS NOT NULL
),

asked AS (
    SELECT
        judged.suite,
        judged.task_set,
        judged.task_id,
        judged.task_hash,
        entries.series,
        any_value(entries.model) AS model,
        sum(judged.n_judged) AS n_judged,
        sum(judged.n_passed) AS n_passed
    FROM judged
    JOIN scores.entries AS entries ON judged.entry = entries.entry
    GROUP BY
        judged.suite, judged.task_set, judged.task_id, judged.task_hash, entries.series
    HAVING sum(judged.n_judged) >= 2
),

shared AS (
    SELECT
        *,
        n_passed BETWEEN 1 AND n_judged - 1 AS is_flaky,
        count(*) FILTER (n_passed BETWEEN 1 AND n_judged - 1) OVER of_model
            / count(*) OVER of_model AS share
    FROM asked
    WINDOW of_model AS (PARTITION BY suite, task_set, series)
),

tasks AS (
    SELECT
        suite,
        task_set,
        task_id,
        task_hash,
        count(*) AS n_models,
        count(*) FILTER (is_flaky) AS n_flaky,
        list_sort(list_distinct(list(model) FILTER (is_flaky AND model IS NOT NULL)))
            AS flaky_models,
        list_sort(list(share)) AS shares,
        CAST(sum(n_judged) AS BIGINT) AS n_judged,
        CAST(sum(n_passed) AS BIGINT) AS n_passed
    FROM shared
    GROUP BY suite, task_set, task_id, task_hash
),

-- The same models are asked most tasks of a set, so that few tasks differ in what chance explains.
alike AS (
    SELECT
        suite,
        task_set,
        shares,
        n_flaky,
        unnest(list({
            task_id: task_id,
            task_hash: task_hash,
            n_models: n_models,
            flaky_models: flaky_models,
            n_judged: n_judged,
            n_passed: n_passed
        }), max_depth := 2),
        least(1.0, poisson_binomial_p(shares, n_flaky)) AS p_value
    FROM tasks
    GROUP BY suite, task_set, shares, n_flaky
),

ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite, task_set ORDER BY p_value, task_id, task_hash
        ) AS place,
        count(*) OVER (PARTITION BY suite, task_set) AS n_tasks
    FROM alike
),

adjusted AS (
    SELECT
        *,
        least(1.0, max((n_tasks - place + 1) * p_value) OVER (
            PARTITION BY suite, task_set ORDER BY place
        )) AS p_holm
    FROM ranked
)

SELECT
    suite,
    task_set,
    task_id,
    task_hash,
    n_models,
    n_flaky,
    flaky_models,
    ordered_sum(shares) AS expected_flaky,
    n_judged,
    n_passed,
    n_passed / n_judged AS pass_rate,
    p_value,
    p_holm
FROM adjusted
WHERE n_flaky > 0
ORDER BY suite, task_set, place
