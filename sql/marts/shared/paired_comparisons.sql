-- Two models on the tasks that both did, by the latest verdict of each on each task.
-- grain: suite × pair of models (provider × model × settings), a before b
-- provider_a: provider of the first model
-- settings_a: settings of the first model
-- provider_b: provider of the second model
-- settings_b: settings of the second model
-- n_tasks: tasks on which both have a verdict
-- n_both: tasks that both passed
-- n_only_a: tasks that only the first model passed
-- n_only_b: tasks that only the second model passed
-- n_neither: tasks that neither passed
-- pass_rate_difference: pass rate of the first model minus that of the second, over these tasks
-- p_value: two-sided p-value of McNemar's exact test
-- p_holm: p_value adjusted for all pairs of the suite (Holm 1979, Scand. J. Statist. 6, 65)
WITH sides AS (
    SELECT
        suite,
        task_set,
        task_id,
        provider,
        model,
        settings,
        -- An unknown provider is another one than an empty one.
        concat_ws(chr(31), coalesce(provider, chr(30)), model, settings) AS side,
        passed
    FROM latest_verdicts
),

pairs AS (
    SELECT
        a.suite,
        a.provider AS provider_a,
        a.model AS model_a,
        a.settings AS settings_a,
        b.provider AS provider_b,
        b.model AS model_b,
        b.settings AS settings_b,
        count(*) AS n_tasks,
        count(*) FILTER (a.passed AND b.passed) AS n_both,
        count(*) FILTER (a.passed AND NOT b.passed) AS n_only_a,
        count(*) FILTER (b.passed AND NOT a.passed) AS n_only_b,
        count(*) FILTER (NOT a.passed AND NOT b.passed) AS n_neither
    FROM sides AS a
    JOIN sides AS b
        ON a.suite = b.suite
        AND a.task_set = b.task_set
        AND a.task_id = b.task_id
        AND a.side < b.side
    GROUP BY ALL
),

tested AS (
    SELECT
        *,
        (n_only_a - n_only_b) / n_tasks AS pass_rate_difference,
        mcnemar_p(n_only_a, n_only_b) AS p_value
    FROM pairs
),

ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY suite
            ORDER BY p_value, model_a, settings_a, model_b, settings_b, provider_a, provider_b
        ) AS place,
        count(*) OVER (PARTITION BY suite) AS n_pairs
    FROM tested
)

SELECT
    suite,
    provider_a,
    model_a,
    settings_a,
    provider_b,
    model_b,
    settings_b,
    n_tasks,
    n_both,
    n_only_a,
    n_only_b,
    n_neither,
    pass_rate_difference,
    p_value,
    least(1.0, max((n_pairs - place + 1) * p_value) OVER (
        PARTITION BY suite ORDER BY place
    )) AS p_holm
FROM ranked
ORDER BY suite, p_value, model_a, settings_a, model_b, settings_b, provider_a, provider_b
