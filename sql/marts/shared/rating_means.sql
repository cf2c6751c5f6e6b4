-- The mean rating of each model's answers, by each rater and criterion.
-- grain: run × task set × rater × criterion × model
-- inherits: ratings
-- first: run_id, model, rater, criterion, mean, mean_low, mean_high, n_ratings, n_tasks
-- model: the model or system that gave the answers; NULL if not recorded
-- n_ratings: ratings that are numbers, each rater's newest of an answer
-- n_tasks: tasks of these ratings
-- n_without_value: ratings without a number: labels, and what could not be read
-- mean: mean of the ratings; NULL without any
-- mean_low: lower end of its 95 % interval: if all ratings lie on a known scale, as for scores from 0 to 1 in
--     `metrics`, after rescaling; of several ratings of a task, by tasks (see clustered_interval); on no known
--     scale Student's (see clustered_student_interval), and none where all are equal; NULL below 6 tasks.
--     `metrics` does not know the scales of ratings, and has other intervals
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
        max(scale_high) AS scale_high,
        bool_and(coalesce(value BETWEEN scale_low AND scale_high, value IS NULL)) AS is_within,
        bool_and(coalesce(value IN (scale_low, scale_high), true)) AS is_binary
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
        CASE WHEN bool_and(is_within) THEN max(scale_high) - min(scale_low) END AS width,
        if(bool_and(is_binary), CAST(sum(n_ratings) AS DOUBLE), 'inf'::DOUBLE) AS trials,
        list(total ORDER BY task_id) FILTER (n_ratings > 0) AS sums,
        list(n_ratings ORDER BY task_id) FILTER (n_ratings > 0) AS sizes
    FROM tasks
    GROUP BY suite, run_id, task_set, rater, rater_kind, rater_config, criterion, model
),

averaged AS (
    SELECT
        *,
        list_aggregate(sums, 'fsum') / n_ratings AS mean,
        list_transform(sums, lambda total, i: (total - sizes[i] * scale_low) / nullif(width, 0)) AS shares,
        effective_tasks(
            n_tasks,
            trials,
            list_aggregate(shares, 'fsum'),
            list_aggregate(list_transform(shares, lambda share: share ** 2), 'fsum')
        ) AS effective
    FROM counted
),

ended AS (
    SELECT
        *,
        CASE
            WHEN n_tasks < 6 THEN NULL
            WHEN coalesce(width, 0) = 0 THEN clustered_student_interval(sums, sizes)
            ELSE list_transform(
                CASE
                    WHEN n_tasks < n_ratings THEN clustered_interval(shares, sizes, trials := trials)
                    ELSE [
                        wilson_low((mean - scale_low) / width * effective, effective),
                        wilson_high((mean - scale_low) / width * effective, effective)
                    ]
                END,
                lambda share: scale_low + width * share
            )
        END AS ends
    FROM averaged
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
    ends[1] AS mean_low,
    ends[2] AS mean_high,
    clustered_error(sums, sizes) AS stderr
FROM ended
ORDER BY suite, run_id, task_set, criterion, rater, mean DESC NULLS LAST, model
