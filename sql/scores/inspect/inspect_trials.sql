-- What Inspect's samples with events say of themselves as trials.
-- by_run
-- grain: result with events
-- inherits: lake.results
-- agent: solver of the evaluation; NULL if it only asks the model
-- trial_id: the sample's uuid; of older logs, which have none, its evaluation, id and epoch
SELECT
    calls.suite,
    calls.run_id,
    calls.content_id AS result_id,
    coalesce(
        json_extract_string(calls.extra, '$.uuid'),
        concat_ws('/', calls.run_id, calls.task_id, calls.attempt)
    ) AS trial_id,
    coalesce(
        json_extract_string(calls.extra, '$.limit.type'),
        CASE WHEN calls.success = false THEN 'error' END
    ) AS recorded_end,
    CASE
        WHEN recorded_end IN ('time', 'working') THEN 'timeout'
        WHEN recorded_end = 'error' THEN 'error'
        WHEN recorded_end IS NOT NULL THEN 'limit'
        WHEN calls.is_correct THEN 'solved'
        WHEN NOT calls.is_correct THEN 'gave_up'
        ELSE 'unknown'
    END AS end_reason,
    solvers.agent
FROM lake.results AS calls
LEFT JOIN (
    SELECT
        suite,
        run_id,
        arg_min(solver, content_id) AS agent
    FROM (
        SELECT
            *,
            coalesce(
                json_extract_string(extra, '$.eval.solver'),
                json_extract_string(config, '$.plan.steps[#-1].solver')
            ) AS solver
        FROM lake.runs
        WHERE suite = 'inspect'
    )
    WHERE solver <> 'generate'
    GROUP BY suite, run_id
) AS solvers
    ON calls.suite = solvers.suite
    AND calls.run_id = solvers.run_id
WHERE calls.suite = 'inspect' AND contains(calls.extra, '"events"') AND NOT calls.is_replaced
