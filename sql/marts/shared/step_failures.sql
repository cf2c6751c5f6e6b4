-- Where each failed trial first parts from those that solved its task: the calls of tools that it shares
-- with the solved trial nearest to it, and the first that differs.
-- grain: failed trial of a task that another trial solved
-- inherits: trials
-- first: task_id, system, n_shared, seq, tool, arguments, solved_tool, solved_arguments
-- solved_run_id: run of the solved trial that shares the most calls with it
-- solved_result_id: that trial
-- solved_system: its system
-- n_solved: solved trials of the task that call tools
-- n_shared: calls of tools at the start that both have, with the same tool and arguments
-- seq: position in the trial of its first other call; NULL if it ends there
-- tool: tool of that call
-- arguments: its arguments
-- error: error of the last call that both have, in the failed trial
-- solved_seq: position in the solved trial of its first other call; NULL if it ends there
-- solved_tool: tool of that call
-- solved_arguments: its arguments
WITH calls AS (
    SELECT
        trials.suite,
        trials.task_set,
        trials.task_id,
        trials.run_id,
        trials.result_id,
        trials.system,
        trials.passed,
        steps.seq,
        steps.name AS tool,
        steps.arguments,
        steps.error,
        row_number() OVER of_trial AS position
    FROM steps
    JOIN trials USING (suite, run_id, result_id)
    WHERE steps.kind = 'tool' AND NOT steps.is_copied AND trials.duplicate_of IS NULL
    WINDOW of_trial AS (
        PARTITION BY steps.suite, steps.run_id, steps.result_id ORDER BY steps.seq
    )
),

prefixed AS (
    SELECT
        *,
        -- The sum of hashes of all calls so far is the same where all of them are.
        sum(hash(text_hash(tool), text_hash(arguments), position)::HUGEINT // 65536) OVER (
            PARTITION BY suite, run_id, result_id ORDER BY position
        ) AS prefix
    FROM calls
),

solved AS (
    SELECT
        suite,
        task_set,
        task_id,
        count(DISTINCT (run_id, result_id)) AS n_solved,
        min({'run_id': run_id, 'result_id': result_id, 'system': system}) AS any_solved
    FROM calls
    WHERE passed
    GROUP BY suite, task_set, task_id
),

ways AS (
    SELECT
        suite,
        task_set,
        task_id,
        position,
        prefix,
        min({'run_id': run_id, 'result_id': result_id, 'system': system}) AS nearest
    FROM prefixed
    WHERE passed
    GROUP BY suite, task_set, task_id, position, prefix
),

failed AS (
    SELECT
        calls.suite,
        calls.run_id,
        calls.result_id,
        any_value(calls.task_set) AS task_set,
        any_value(calls.task_id) AS task_id,
        any_value(calls.system) AS system,
        any_value(solved.n_solved) AS n_solved,
        coalesce(max(ways.position), 0) AS n_shared,
        coalesce(arg_max(ways.nearest, ways.position), any_value(solved.any_solved)) AS nearest
    FROM prefixed AS calls
    JOIN solved
        ON calls.suite = solved.suite
        AND calls.task_set = solved.task_set
        AND calls.task_id = solved.task_id
    LEFT JOIN ways
        ON calls.suite = ways.suite
        AND calls.task_set = ways.task_set
        AND calls.task_id = ways.task_id
        AND calls.position = ways.position
        AND calls.prefix = ways.prefix
    WHERE NOT calls.passed
    GROUP BY calls.suite, calls.run_id, calls.result_id
)

SELECT
    failed.suite,
    failed.run_id,
    failed.result_id,
    failed.task_set,
    failed.task_id,
    failed.system,
    failed.nearest.run_id AS solved_run_id,
    failed.nearest.result_id AS solved_result_id,
    failed.nearest.system AS solved_system,
    failed.n_solved,
    failed.n_shared,
    others.seq,
    others.tool,
    others.arguments,
    last_shared.error,
    solved_others.seq AS solved_seq,
    solved_others.tool AS solved_tool,
    solved_others.arguments AS solved_arguments
FROM failed
LEFT JOIN calls AS others
    ON failed.suite = others.suite
    AND failed.run_id = others.run_id
    AND failed.result_id = others.result_id
    AND failed.n_shared + 1 = others.position
LEFT JOIN calls AS last_shared
    ON failed.suite = last_shared.suite
    AND failed.run_id = last_shared.run_id
    AND failed.result_id = last_shared.result_id
    AND failed.n_shared = last_shared.position
LEFT JOIN calls AS solved_others
    ON failed.suite = solved_others.suite
    AND failed.nearest.run_id = solved_others.run_id
    AND failed.nearest.result_id = solved_others.result_id
    AND failed.n_shared + 1 = solved_others.position
ORDER BY failed.suite, failed.task_set, failed.task_id, failed.run_id, failed.result_id
