-- What the calls of a task in a run came to: the table of facts that the figures are computed from.
-- It depends on the results of its run only, and not on what judges the same task in other runs.
-- by_run
-- grain: run × provider × model × settings × task set × is_replay × task
-- inherits: results, scores.setups
-- task: hash of the suite, task set and task
-- task_hash: the smallest content hash of the task's version
-- n_results: attempts of the task
-- n_unanswered: attempts without an answer
-- n_open: attempts among them without a verdict: they did not pass, if anything judges the task
-- n_open_counted: attempts among these that no other run counts
-- n_counted: attempts that no other run counts
-- n_judged: attempts with a verdict
-- n_passed: attempts that passed
-- first_passed: whether the first attempt with a verdict passed
-- first_outcome: the same, where attempts without an answer did not pass
-- last_passed: whether the last attempt with a verdict passed
-- is_mixed: whether its attempts differ in the version of the task, or in whether another run counts them
-- cost_usd: exact_sum of the costs that no other run counts, without cached answers; NULL if none is known
-- n_passed_of_known_cost: attempts with such a cost that passed
SELECT
    calls.suite,
    calls.run_id,
    setups.task_set,
    setups.is_replay,
    setups.entry,
    task_number(calls.suite, setups.task_set, calls.task_id) AS task,
    calls.task_id,
    min(calls.task_hash) AS task_hash,
    count(*) AS n_results,
    count(*) FILTER (NOT calls.is_answered) AS n_unanswered,
    count(*) FILTER (NOT calls.is_answered AND calls.passed IS NULL) AS n_open,
    count(*) FILTER (
        NOT calls.is_answered AND calls.passed IS NULL AND calls.duplicate_of IS NULL
    ) AS n_open_counted,
    count(*) FILTER (calls.duplicate_of IS NULL) AS n_counted,
    count(calls.passed) AS n_judged,
    count(*) FILTER (calls.passed) AS n_passed,
    arg_min(calls.passed, (calls.attempt, calls.seq, calls.passed)) FILTER (calls.passed IS NOT NULL)
        AS first_passed,
    arg_max(calls.passed, (calls.attempt, calls.seq, calls.passed)) FILTER (calls.passed IS NOT NULL)
        AS last_passed,
    arg_min(coalesce(calls.passed, false), (calls.attempt, calls.seq, calls.passed))
        FILTER (calls.passed IS NOT NULL OR NOT calls.is_answered) AS first_outcome,
    min(calls.task_hash) IS DISTINCT FROM max(calls.task_hash)
    OR count(calls.task_hash) NOT IN (0, count(*))
    OR count(*) FILTER (calls.duplicate_of IS NULL) NOT IN (0, count(*)) AS is_mixed,
    exact_sum(calls.cost_usd) AS cost_usd,
    count(*) FILTER (calls.passed AND calls.cost_usd IS NOT NULL) AS n_passed_of_known_cost
FROM (
    SELECT
        suite,
        run_id,
        setup,
        task_id,
        task_hash,
        coalesce(attempt, 1) AS attempt,
        seq,
        duplicate_of,
        coalesce(is_correct, objective_pass, computed_verdict) AS passed,
        coalesce(
            CASE
                WHEN records_outcomes(suite) THEN availability_status = 'ok' AND success
                ELSE coalesce(availability_status, 'ok') = 'ok' AND coalesce(success, true)
            END,
            false
        ) AS is_answered,
        CASE WHEN duplicate_of IS NULL AND is_cached IS NOT TRUE THEN cost_usd END AS cost_usd
    FROM lake.results
    WHERE NOT is_replaced
) AS calls
JOIN scores.setups AS setups ON calls.setup = setups.setup
GROUP BY
    calls.suite, calls.run_id, setups.task_set, setups.is_replay, setups.entry, calls.task_id
