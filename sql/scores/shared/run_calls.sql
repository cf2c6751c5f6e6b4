-- What the calls of a run came to, for runs and run_times.
-- by_run
-- grain: run with results
-- inherits: runs
-- first_date: first of the dates in the log's calls; NULL if none has one
-- first_started_at: start of the first call, replaced ones included, UTC
-- n_results: results, without those that another stands in for; 0 if there are none
SELECT
    calls.suite,
    calls.run_id,
    min(calendar_date(calls.run_date)) AS first_date,
    min(calls.started_at) AS first_started_at,
    count(*) FILTER (NOT calls.is_replaced) AS n_results,
    count(DISTINCT hash(text_hash(calls.task_set), text_hash(calls.task_id)))
        FILTER (NOT calls.is_replaced AND calls.task_id IS NOT NULL) AS n_tasks,
    coalesce(bool_or(setups.is_replay) FILTER (NOT calls.is_replaced), false) AS is_replay,
    max(coalesce(calls.ended_at, calls.started_at)) FILTER (NOT calls.is_replaced) AS ended_at,
    epoch_ms(max(calls.ended_at) FILTER (NOT calls.is_replaced))
        - epoch_ms(min(calls.started_at) FILTER (NOT calls.is_replaced)) AS wall_clock_ms,
    list_sort(list(DISTINCT setups.model)
        FILTER (setups.model IS NOT NULL AND NOT calls.is_replaced)) AS models
FROM lake.results AS calls
JOIN scores.setups AS setups ON calls.setup = setups.setup
GROUP BY calls.suite, calls.run_id
