-- The results of tasks of which it is known how long a person needs: the minutes in `extra` of the result, or of its
-- metadata, else of the task; of versions of a task that differ the least. Replays and copies are left out.
-- grain: result
-- inherits: scores.outcomes, results
-- task: the task with its task set
-- family: cluster of the task: tasks that are alike; the task itself where none is declared
-- human_minutes: minutes that a person needs, above 0
-- recorded_weight: weight of the result in its model's fit, as the log records it
-- is_human: whether a person gave the answer
WITH facts AS (
    SELECT
        suite, task_set, task_id,
        min(cluster) AS family,
        min(coalesce(
            try_cast((extra ->> '$.human_minutes') AS DOUBLE),
            try_cast((extra ->> '$.metadata.human_minutes') AS DOUBLE)
        )) AS minutes
    FROM tasks
    GROUP BY suite, task_set, task_id
)

SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    calls.model,
    results.recorded_model,
    concat_ws('/', calls.task_set, calls.task_id) AS task,
    coalesce(facts.family, task) AS family,
    coalesce(
        try_cast((results.extra ->> '$.human_minutes') AS DOUBLE),
        try_cast((results.extra ->> '$.metadata.human_minutes') AS DOUBLE),
        facts.minutes
    ) AS human_minutes,
    calls.outcome,
    try_cast((results.extra ->> '$.equal_task_weight') AS DOUBLE) AS recorded_weight,
    coalesce(systems.agent = 'human', false) AS is_human
FROM scores.outcomes AS calls
JOIN results
    ON calls.suite = results.suite
    AND calls.run_id = results.run_id
    AND calls.result_id = results.result_id
LEFT JOIN facts
    ON calls.suite = facts.suite
    AND calls.task_set = facts.task_set
    AND calls.task_id = facts.task_id
LEFT JOIN systems
    ON calls.suite = systems.suite
    AND calls.run_id = systems.run_id
    AND calls.model = systems.system
WHERE NOT calls.is_replay
    AND calls.duplicate_of IS NULL
    AND human_minutes > 0
    AND isfinite(human_minutes)
