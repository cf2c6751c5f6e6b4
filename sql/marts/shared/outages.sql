-- Models whose latest runs of a task set got no answer at all. The leaderboard keeps the run before,
-- so that nothing else there shows it.
-- grain: suite × task set × provider × model × settings
-- inherits: leaderboard
-- first: task_set, model, settings, n_runs, since, last_answered_run_id
-- n_runs: runs without an answer after the last that has one
-- since: date of the first of them
-- run_id: the latest of them
-- last_answered_run_id: the latest run with an answer; NULL if there is none
WITH runs AS (
    SELECT
        rates.*,
        entries.series,
        rates.n_unanswered < rates.n_results AS is_answered
    FROM scores.run_rates AS rates
    JOIN scores.entries AS entries ON rates.entry = entries.entry
),

latest AS (
    SELECT
        series,
        task_set,
        max(position) FILTER (is_answered) AS position,
        arg_max(run_id, position) FILTER (is_answered) AS run_id
    FROM runs
    GROUP BY series, task_set
)

SELECT
    runs.suite,
    runs.task_set,
    runs.provider,
    runs.model,
    runs.settings,
    count(*) AS n_runs,
    min(runs.run_date) AS since,
    arg_max(runs.run_id, runs.position) AS run_id,
    any_value(latest.run_id) AS last_answered_run_id
FROM runs
JOIN latest
    ON runs.series = latest.series
    AND runs.task_set = latest.task_set
WHERE coalesce(runs.position > latest.position, true)
GROUP BY runs.series, runs.suite, runs.task_set, runs.provider, runs.model, runs.settings
ORDER BY runs.suite, runs.task_set, runs.model, runs.settings, runs.provider
