-- The inputs of zeroeval_verdicts: the answer that was read from each reply, and the right one.
-- grain: ZeroEval result
-- inherits: lake.results
-- target: the right answer; NULL if it is not known
SELECT
    results.suite,
    results.run_id,
    results.content_id,
    results.task_set,
    results.answer,
    max(tasks.target) AS target
FROM lake.results AS results
LEFT JOIN lake.tasks AS tasks
    ON results.suite = tasks.suite
    AND results.task_set = tasks.task_set
    AND results.task_id = tasks.task_id
WHERE results.suite = 'zeroeval'
GROUP BY ALL
