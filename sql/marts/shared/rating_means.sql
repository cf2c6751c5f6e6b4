-- The mean rating of each model's answers, by each rater and criterion.
-- grain: run × task set × rater × criterion × model
-- inherits: ratings
-- first: run_id, model, rater, criterion, mean, mean_low, mean_high, n_ratings, n_tasks
-- model: the model or system that gave the answers; NULL if not recorded
-- n_ratings: ratings that are numbers, each rater's newest of an answer
-- n_tasks: tasks of these ratings
-- n_without_value: ratings without a number: labels, and what could not be read
-- mean: mean of the ratings; NULL without any
-- mean_low: lower end of its 95 % interval: Student's, by tasks (see clustered_student_interval), within
--     the scale; NULL below 6 tasks
-- mean_high: upper end of that interval
-- stderr: its standard error, by tasks; NULL below 2 tasks
WITH tasks AS (
    SELECT
        suite,
        run_id,
        task_set,
        task_id,
        rater,
        rater_kind,
        rater_config,
        criterion,
        model,
        count(value) AS n_ratings,
        count(*) FILTER (value IS NULL) AS n_without_value,
        coalesce(
            list_aggregate(list(value ORDER BY value) FILTER (value IS NOT NULL), 'fsum'), 0
        ) AS total,
        min(scale_low) AS scale_low,
        max(scale_high) AS scale_high
    FROM ratings
    -- Others than raters say only with which probability an answer was drawn.
    WHERE is_current AND NOT (rater IS NULL AND rater_kind = 'human' AND status = 'not_applicable')
    GROUP BY suite, run_id, task_set, task_id, rater, rater_kind, rater_config, criterion, model
),

counted AS (
    SELECT
        suite,
        run_id,
        task_set,
        rater,
        rater_kind,
        rater_config,
        criterion,
        model,
        CAST(sum(n_ratings) AS BIGINT) AS n_ratings,
        count(*) FILTER (n_ratings > 0) AS n_tasks,
        CAST(sum(n_without_value) AS BIGINT) AS n_without_value,
        min(scale_low) AS scale_low,
        max(scale_high) AS scale_high,
        list(total ORDER BY task_id) FILTER (n_ratings > 0) AS sums,
        list(n_ratings ORDER BY task_id) FILTER (n_ratings > 0) AS sizes
    FROM tasks
    GROUP BY suite, run_id, task_set, rater, rater_kind, rater_config, criterion, model
),

averaged AS (
    SELECT
        *,
        list_aggregate(sums, 'fsum') / n_ratings AS mean,
        CASE WHEN n_tasks > 0 THEN clustered_student_interval(sums, sizes) END AS ends
    FROM counted
)

SELECT
    suite,
    run_id,
    task_set,
    rater,
    rater_kind,
    rater_config,
    criterion,
    model,
    n_ratings,
    n_tasks,
    n_without_value,
    mean,
    -- greatest() and least() leave NULLs out.
    CASE WHEN ends IS NOT NULL THEN greatest(ends[1], scale_low) END AS mean_low,
    CASE WHEN ends IS NOT NULL THEN least(ends[2], scale_high) END AS mean_high,
    clustered_error(sums, sizes) AS stderr
FROM averaged
ORDER BY suite, run_id, task_set, criterion, rater, mean DESC NULLS LAST, model
