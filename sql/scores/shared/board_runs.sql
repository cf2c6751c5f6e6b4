-- The run by which each model stands on the board of a task set: the latest of those that asked most
-- of the set's version; see task_set_versions. Comparisons take the same run.
-- board
-- grain: suite × task set × provider × model × settings
-- inherits: scores.run_rates
-- entry: hash of the run and model; see scores.setups
-- n_runs: number of runs of the model on the task set
-- newer_partial_entry: the same of the latest run after it, which covers less of the set or got no
--     answer at all; NULL if there is none
WITH placed AS (
    SELECT
        rates.*,
        entries.series,
        row_number() OVER (
            of_series
            ORDER BY rates.n_unanswered < rates.n_results DESC, rates.n_covered DESC,
                rates.position DESC
        ) AS place,
        count(*) OVER of_series AS n_runs,
        max(rates.position) OVER of_series AS last_position,
        arg_max(rates.entry, rates.position) OVER of_series AS last_entry
    FROM scores.run_rates AS rates
    JOIN scores.entries AS entries ON rates.entry = entries.entry
    WINDOW of_series AS (PARTITION BY entries.series, rates.task_set)
)

SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    position,
    run_date,
    started_at,
    n_tasks,
    n_covered,
    n_rated,
    n_clusters,
    n_results,
    n_unanswered,
    n_answered_tasks,
    pass_rate,
    covered_pass_rate,
    pass_rate_low,
    pass_rate_high,
    min_pass_rate,
    max_pass_rate,
    is_first_only,
    asked,
    entry,
    series,
    n_runs,
    CASE WHEN last_position > position THEN last_entry END AS newer_partial_entry
FROM placed
WHERE place = 1
