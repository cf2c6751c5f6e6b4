-- The probability that at least one of k attempts passes, and that all of them do, for tasks with
-- several attempts.
-- grain: run × provider × model × settings × task set × k
-- first: run_id, model, settings, k, pass_at_k, pass_hat_k, n_tasks
-- k: number of attempts allowed
-- n_tasks: tasks with at least k attempts that have a verdict or no answer: the latter did not pass,
--     unless nothing judges the task
-- remark: of an adaptive run, why it has neither figure
-- pass_at_k: mean over the tasks of 1 - C(n - c, k) / C(n, k), with c of these n attempts passed
-- pass_hat_k: mean over the tasks of C(c, k) / C(n, k), the probability that all of k attempts pass
WITH attempts AS (
    SELECT
        suite,
        run_id,
        provider,
        model,
        settings,
        task_set,
        task_id,
        count(outcome) AS n,
        count(*) FILTER (outcome) AS c
    FROM scores.outcomes
    WHERE duplicate_of IS NULL AND NOT is_replay
    GROUP BY suite, run_id, provider, model, settings, task_set, task_id
    -- A run without any verdict has no rate.
    QUALIFY sum(count(passed)) OVER (
        PARTITION BY suite, run_id, provider, model, settings, task_set
    ) > 0
),

allowed AS (
    SELECT *, unnest(generate_series(1, n)) AS k
    FROM attempts
),

chances AS (
    SELECT
        * EXCLUDE (n, c),
        -- C(n - c, k) / C(n, k) is that of k - 1 times (n - c - k + 1) / (n - k + 1).
        1 - product(greatest(n - c - k + 1, 0) / (n - k + 1)) OVER (
            PARTITION BY suite, run_id, provider, model, settings, task_set, task_id
            ORDER BY k
        ) AS chance,
        product(greatest(c - k + 1, 0) / (n - k + 1)) OVER (
            PARTITION BY suite, run_id, provider, model, settings, task_set, task_id
            ORDER BY k
        ) AS chance_of_all
    FROM allowed
)

SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    CAST(k AS INTEGER) AS k,
    count(*) AS n_tasks,
    if(is_adaptive, NULL, exact_mean(chance)) AS pass_at_k,
    if(is_adaptive, NULL, exact_mean(chance_of_all)) AS pass_hat_k,
    adaptive_remark(is_adaptive) AS remark
FROM chances
JOIN (SELECT suite, run_id, is_adaptive FROM scores.run_headers) AS headers USING (suite, run_id)
GROUP BY suite, run_id, provider, model, settings, task_set, k, is_adaptive
ORDER BY suite, run_id, provider, model, settings, task_set, k
