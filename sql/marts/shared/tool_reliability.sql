-- How reliable each tool was in the trials of each system: its calls, those that failed, and whether
-- trials with a failed call passed. Steps that repeat those of an earlier trajectory do not count. Trials of
-- adaptive runs, whose tasks were chosen by the answers, do not count for what passed.
-- grain: suite × task set × system × tool
-- inherits: trials
-- first: system, tool, n_calls, error_rate, error_rate_low, error_rate_high, pass_rate_with_error, pass_rate_without_error
-- tool: name of the tool
-- n_trials: trials that called it
-- n_calls: calls of it
-- n_errors: calls that failed: with an error, or an exit code other than 0; NULL if the logs mark no
--     call of any tool as failed, which some never do
-- error_rate: n_errors / n_calls
-- error_rate_low: lower end of its 95 % interval, by tasks: calls of one trial, and trials of one task, depend
--     on each other (see clustered_interval); NULL below 6 tasks
-- error_rate_high: upper end of that interval
-- n_retries: calls whose last call before them in the trial was of the same tool and failed
-- n_timed: calls of known time
-- mean_ms: mean time of a call, milliseconds
-- n_trials_with_error: judged trials that called it and had a failed call of it
-- pass_rate_with_error: share of them that passed; association is not cause: see docs/trials.md
-- n_trials_without_error: judged trials that called it and had none
-- pass_rate_without_error: share of them that passed
WITH calls AS (
    SELECT
        trials.suite,
        trials.task_set,
        trials.task_id,
        trials.system,
        trials.run_id,
        trials.result_id,
        if(headers.is_adaptive, NULL, trials.passed) AS passed,
        steps.name AS tool,
        steps.error IS NOT NULL OR coalesce(steps.exit_code <> 0, false) AS is_failed,
        date_diff('microsecond', steps.started_at, steps.ended_at) / 1000.0 AS duration_ms,
        lag(steps.name) OVER of_trial = steps.name AND lag(is_failed) OVER of_trial AS is_retry
    FROM steps
    JOIN trials USING (suite, run_id, result_id)
    JOIN scores.run_headers AS headers USING (suite, run_id)
    WHERE steps.kind = 'tool' AND NOT steps.is_copied AND trials.duplicate_of IS NULL
    WINDOW of_trial AS (
        PARTITION BY steps.suite, steps.run_id, steps.result_id ORDER BY steps.seq
    )
),

-- A format that never marks a call as failed says nothing of errors.
marked AS (
    SELECT suite, bool_or(is_failed) AS marks_errors
    FROM calls
    GROUP BY suite
),

of_trials AS (
    SELECT
        suite,
        task_set,
        coalesce(task_id, result_id) AS task_id,
        system,
        tool,
        run_id,
        result_id,
        any_value(passed) AS passed,
        count(*) AS n_calls,
        count(*) FILTER (is_failed) AS n_errors,
        count(*) FILTER (is_retry) AS n_retries,
        count(duration_ms) AS n_timed,
        sum(duration_ms ORDER BY duration_ms) AS total_ms
    FROM calls
    GROUP BY suite, task_set, task_id, system, tool, run_id, result_id
),

of_tasks AS (
    SELECT
        suite,
        task_set,
        system,
        tool,
        task_id,
        count(*) AS n_trials,
        CAST(sum(n_calls) AS BIGINT) AS n_calls,
        CAST(sum(n_errors) AS BIGINT) AS n_errors,
        CAST(sum(n_retries) AS BIGINT) AS n_retries,
        CAST(sum(n_timed) AS BIGINT) AS n_timed,
        sum(total_ms ORDER BY total_ms) AS total_ms,
        count(passed) FILTER (n_errors > 0) AS n_trials_with_error,
        count(*) FILTER (passed AND n_errors > 0) AS n_passed_with_error,
        count(passed) FILTER (n_errors = 0) AS n_trials_without_error,
        count(*) FILTER (passed AND n_errors = 0) AS n_passed_without_error
    FROM of_trials
    GROUP BY suite, task_set, system, tool, task_id
),

summed AS (
    SELECT
        suite,
        task_set,
        system,
        tool,
        CAST(sum(n_trials) AS BIGINT) AS n_trials,
        CAST(sum(n_calls) AS BIGINT) AS n_calls,
        CAST(sum(n_errors) AS BIGINT) AS n_errors,
        CAST(sum(n_retries) AS BIGINT) AS n_retries,
        CAST(sum(n_timed) AS BIGINT) AS n_timed,
        sum(total_ms ORDER BY total_ms) AS total_ms,
        list(CAST(n_errors AS DOUBLE) ORDER BY task_id) AS errors,
        list(n_calls ORDER BY task_id) AS sizes,
        CAST(sum(n_trials_with_error) AS BIGINT) AS n_trials_with_error,
        CAST(sum(n_passed_with_error) AS BIGINT) AS n_passed_with_error,
        CAST(sum(n_trials_without_error) AS BIGINT) AS n_trials_without_error,
        CAST(sum(n_passed_without_error) AS BIGINT) AS n_passed_without_error
    FROM of_tasks
    GROUP BY suite, task_set, system, tool
)

SELECT
    summed.suite,
    task_set,
    system,
    tool,
    n_trials,
    n_calls,
    CASE WHEN marks_errors THEN n_errors END AS n_errors,
    CASE WHEN marks_errors THEN n_errors / n_calls END AS error_rate,
    CASE WHEN marks_errors THEN clustered_interval(errors, sizes)[1] END AS error_rate_low,
    CASE WHEN marks_errors THEN clustered_interval(errors, sizes)[2] END AS error_rate_high,
    CASE WHEN marks_errors THEN n_retries END AS n_retries,
    n_timed,
    total_ms / nullif(n_timed, 0) AS mean_ms,
    CASE WHEN marks_errors THEN n_trials_with_error END AS n_trials_with_error,
    CASE WHEN marks_errors THEN n_passed_with_error / nullif(n_trials_with_error, 0) END
        AS pass_rate_with_error,
    CASE WHEN marks_errors THEN n_trials_without_error END AS n_trials_without_error,
    CASE WHEN marks_errors THEN n_passed_without_error / nullif(n_trials_without_error, 0) END
        AS pass_rate_without_error
FROM summed
JOIN marked ON summed.suite = marked.suite
ORDER BY summed.suite, task_set, n_calls DESC, tool, system
