-- How hard each task is, and how well it separates strong models from weak ones. Each model (with its
-- provider and settings) counts once, with all its attempts at this version of the task. Calls
-- without an answer did not pass, as in the leaderboard. Adaptive runs do not count for pass_rate and
-- discrimination, since they ask able models hard tasks and weak ones easy tasks; for all else they do.
-- grain: suite × task set × version of a task
-- first: task_id, pass_rate, n_models, n_solved, discrimination, first_solved_by, first_solved_on
-- task_hash: content hash of the task's version; NULL if not known
-- n_models: models that were judged on the task
-- n_solved: models that passed it at least once
-- n_trials: attempts with an outcome
-- pass_rate: mean over the models of the share of their attempts that passed; NULL if all runs were adaptive
-- discrimination: correlation over the models of their pass rate at this task and at their other tasks
--     of the set, from -1 to 1: near 0, the task says nothing about a model, and below, stronger
--     models fail it more often; NULL for fewer than three models, or if all have the same rate
-- first_solved_by: model that was the first to pass it, by the order of the runs; the first by name of
--     those in the same run
-- first_solved_run_id: that run
-- first_solved_on: date of that run
WITH solved AS (
    SELECT
        rates.suite,
        rates.task_set,
        rates.task_id,
        rates.task_hash,
        rates.series,
        any_value(rates.model) AS model,
        CAST(sum(rates.n_trials_passed) AS BIGINT) AS n_passed,
        CAST(sum(rates.n_trials) AS BIGINT) AS n_trials,
        sum(rates.n_trials_passed) FILTER (NOT is_adaptive)
            / sum(rates.n_trials) FILTER (NOT is_adaptive) AS pass_rate,
        min(times.position) FILTER (rates.n_trials_passed > 0) AS first_position
    FROM scores.task_rates AS rates
    JOIN scores.run_times AS times
        ON rates.suite = times.suite
        AND rates.run_id = times.run_id
    JOIN scores.run_headers AS headers
        ON rates.suite = headers.suite
        AND rates.run_id = headers.run_id
    WHERE rates.n_trials > 0
    GROUP BY rates.suite, rates.task_set, rates.task_id, rates.task_hash, rates.series
),

models AS (
    SELECT
        suite,
        task_set,
        series,
        count(pass_rate) AS n_tasks,
        exact_sum(pass_rate) AS rates
    FROM solved
    GROUP BY ALL
),

rested AS (
    SELECT
        solved.*,
        (models.rates - solved.pass_rate) / nullif(models.n_tasks - 1, 0) AS rest
    FROM solved
    JOIN models
        ON solved.suite = models.suite
        AND solved.task_set = models.task_set
        AND solved.series = models.series
),

tasks AS (
    SELECT
        suite,
        task_set,
        task_id,
        task_hash,
        count(*) AS n_models,
        count(*) FILTER (n_passed > 0) AS n_solved,
        CAST(sum(n_trials) AS BIGINT) AS n_trials,
        exact_mean(pass_rate) AS pass_rate,
        count(rest) AS n_rested,
        exact_mean(pass_rate * rest) AS mean_product,
        exact_mean(if(rest IS NULL, NULL, pass_rate)) AS mean_rate,
        exact_mean(rest) AS mean_rest,
        exact_mean(if(rest IS NULL, NULL, pass_rate ** 2)) AS mean_rate_square,
        exact_mean(rest ** 2) AS mean_rest_square,
        min(if(first_position IS NULL, NULL, {position: first_position, model: model}))
            AS first_pass
    FROM rested
    GROUP BY suite, task_set, task_id, task_hash
),

spread AS (
    SELECT
        *,
        (mean_rate_square - mean_rate ** 2) AS rate_variance,
        (mean_rest_square - mean_rest ** 2) AS rest_variance
    FROM tasks
)

SELECT
    spread.suite,
    task_set,
    task_id,
    task_hash,
    n_models,
    n_solved,
    n_trials,
    pass_rate,
    CASE
        WHEN n_rested >= 3 AND rate_variance > 1e-12 AND rest_variance > 1e-12
            THEN greatest(-1.0, least(1.0,
                (mean_product - mean_rate * mean_rest) / sqrt(rate_variance * rest_variance)
            ))
    END AS discrimination,
    first_pass.model AS first_solved_by,
    times.run_id AS first_solved_run_id,
    times.run_date AS first_solved_on
FROM spread
LEFT JOIN scores.run_times AS times
    ON spread.suite = times.suite
    AND spread.first_pass.position = times.position
ORDER BY spread.suite, task_set, pass_rate, task_id, task_hash
