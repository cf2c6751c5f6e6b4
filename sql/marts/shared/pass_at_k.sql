-- The probability that at least one of k attempts passes, for tasks with several attempts.
-- grain: run × provider × model × settings × task set × k
-- k: number of attempts allowed
-- n_tasks: tasks with at least k judged attempts
-- pass_at_k: mean over the tasks of 1 - C(n - c, k) / C(n, k), with c of n attempts passed
WITH attempts AS (
    SELECT
        suite,
        run_id,
        provider,
        model,
        settings,
        task_set,
        task_id,
        count(passed) AS n,
        count(*) FILTER (passed) AS c
    FROM verdicts
    WHERE duplicate_of IS NULL
    GROUP BY suite, run_id, provider, model, settings, task_set, task_id
),

allowed AS (
    SELECT *, unnest(generate_series(1, n)) AS k
    FROM attempts
),

chances AS (
    SELECT
        * EXCLUDE (n, c),
        -- The product of (1 - k / i) for i from n - c + 1 to n; none for c = 0.
        1 - coalesce(list_product(list_transform(
            generate_series(n - c + 1, n), lambda i: greatest(1 - k / i, 0)
        )), 1) AS chance
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
    exact_mean(chance) AS pass_at_k
FROM chances
GROUP BY suite, run_id, provider, model, settings, task_set, k
ORDER BY suite, run_id, provider, model, settings, task_set, k
