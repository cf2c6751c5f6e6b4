-- The verdicts of re-scores as scores of tasks: what scored_tasks has by the metric `passed`, as each
-- version of each scorer judges. Calls without an answer did not pass, where the scorer judges the task.
-- Runs count as in task_rates, if the version has judged any of their answers.
-- grain: scorer × version × run × provider × model × settings × task set × task
-- inherits: scores.scored_tasks, rescored_verdicts
-- scorer: name of the scorer
-- scored: verdicts of the attempts, 1 or 0, in order
WITH judged_runs AS (
    SELECT DISTINCT suite, scorer, version, run_id
    FROM lake.rescores
),

judged_tasks AS (
    SELECT DISTINCT suite, scorer, version, task_id
    FROM rescored_verdicts
),

versions AS (
    SELECT suite, scorer, arg_max(version, (rescored_at, version)) AS version
    FROM lake.rescores
    GROUP BY suite, scorer
),

attempts AS (
    SELECT
        calls.suite,
        judged_runs.scorer,
        judged_runs.version,
        calls.run_id,
        calls.provider,
        calls.model,
        calls.settings,
        calls.task_set,
        calls.task_id,
        calls.attempt,
        calls.seq,
        calls.duplicate_of,
        CASE
            WHEN again.passed IS NOT NULL THEN CAST(again.passed AS DOUBLE)
            WHEN NOT calls.is_answered AND judged_tasks.task_id IS NOT NULL THEN 0.0
        END AS value
    FROM scores.outcomes AS calls
    JOIN judged_runs
        ON calls.suite = judged_runs.suite
        AND calls.run_id = judged_runs.run_id
    LEFT JOIN lake.rescores AS again
        ON calls.suite = again.suite
        AND calls.run_id = again.run_id
        AND calls.result_id = again.result_id
        AND judged_runs.scorer = again.scorer
        AND judged_runs.version = again.version
    LEFT JOIN judged_tasks
        ON calls.suite = judged_tasks.suite
        AND calls.task_id = judged_tasks.task_id
        AND judged_runs.scorer = judged_tasks.scorer
        AND judged_runs.version = judged_tasks.version
    WHERE NOT calls.is_replay
)

SELECT
    attempts.suite,
    attempts.scorer,
    attempts.version,
    any_value(attempts.version = versions.version) AS is_latest,
    attempts.run_id,
    attempts.provider,
    attempts.model,
    attempts.settings,
    attempts.task_set,
    attempts.task_id,
    'passed' AS metric,
    NULL AS filter,
    count(*) AS n_attempts,
    coalesce(
        list(attempts.value ORDER BY attempts.attempt, attempts.seq)
            FILTER (attempts.value IS NOT NULL),
        []
    ) AS scored
FROM attempts
JOIN versions
    ON attempts.suite = versions.suite
    AND attempts.scorer = versions.scorer
GROUP BY
    attempts.suite, attempts.scorer, attempts.version, attempts.run_id, attempts.provider,
    attempts.model, attempts.settings, attempts.task_set, attempts.task_id
QUALIFY max(count(*) FILTER (attempts.duplicate_of IS NULL)) OVER (
    PARTITION BY
        attempts.suite, attempts.scorer, attempts.version, attempts.run_id, attempts.provider,
        attempts.model, attempts.settings, attempts.task_set
) > 0
