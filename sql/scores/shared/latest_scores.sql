-- The score of each model on each task by each metric: that of the latest run in which the task has
-- one, its attempts averaged. By the metric `passed` a call without an answer did not pass.
-- grain: suite × task set × task × provider × model × settings × scorer × metric × filter
-- inherits: scores.task_attempts, scores.run_times, scores.setups
-- n_scored: attempts with a number
-- is_binary: whether each of their scores is 0 or 1
-- is_share: whether each of them is from 0 to 1
-- score: mean of the attempts
WITH latest AS (
    SELECT
        tasks.series,
        tasks.task,
        tasks.scorer,
        tasks.metric,
        tasks.filter,
        any_value(tasks.task_id) AS task_id,
        max(entries.position) AS position,
        arg_max(
            struct_pack(
                tasks.entry, tasks.listed, tasks.n_attempts, tasks.n_passed, tasks.first_passed
            ),
            entries.position
        ) AS chosen
    FROM scores.task_attempts AS tasks
    JOIN (
        SELECT entries.entry, times.position
        FROM scores.entries AS entries
        JOIN scores.run_times AS times
            ON entries.suite = times.suite
            AND entries.run_id = times.run_id
    ) AS entries ON tasks.entry = entries.entry
    WHERE tasks.listed IS NULL OR len(tasks.listed) > 0
    GROUP BY tasks.series, tasks.task, tasks.scorer, tasks.metric, tasks.filter
),

-- Lists of the verdicts that count only.
listed AS (
    SELECT
        * EXCLUDE (chosen),
        chosen.entry,
        coalesce(
            chosen.listed, attempts_of(chosen.n_attempts, chosen.n_passed, chosen.first_passed)
        ) AS scored
    FROM latest
)

SELECT
    entries.suite,
    entries.task_set,
    latest.task_id,
    entries.provider,
    entries.model,
    entries.settings,
    latest.scorer,
    latest.metric,
    latest.filter,
    entries.run_id,
    latest.position,
    len(latest.scored) AS n_scored,
    list_bool_and(list_transform(latest.scored, lambda value: value IN (0, 1)))
        AS is_binary,
    list_bool_and(list_transform(latest.scored, lambda value: value BETWEEN 0 AND 1))
        AS is_share,
    ordered_mean(latest.scored) AS score,
    latest.series,
    latest.task
FROM listed AS latest
JOIN scores.entries AS entries ON latest.entry = entries.entry
