-- The runs of a model that only repeat what failed in its fullest run of the task set before: five tasks
-- or more, all of which had failed, which a choice at random would do with p < 0.001. Some then pass by
-- chance, so that they show nothing about the model.
-- grain: run × provider × model × settings × task set
-- inherits: scores.setups
WITH smaller AS (
    SELECT suite, run_id, entry, series, task_set, n_tasks, fullest.entry AS full_entry
    FROM (
        SELECT
            rates.suite,
            rates.run_id,
            rates.entry,
            entries.series,
            rates.task_set,
            rates.n_tasks,
            -- The latest of equals.
            max({
                n_tasks: rates.n_tasks, position: rates.position, entry: rates.entry
            }) OVER (
                PARTITION BY entries.series, rates.task_set
                ORDER BY rates.position
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS fullest
        FROM scores.run_rates AS rates
        JOIN scores.entries AS entries ON rates.entry = entries.entry
        ANTI JOIN scores.completions AS completions ON rates.entry = completions.other_entry
    )
    WHERE n_tasks BETWEEN 5 AND fullest.n_tasks - 1
)

SELECT
    smaller.suite,
    smaller.run_id,
    smaller.task_set,
    smaller.entry,
    smaller.series
FROM smaller
JOIN scores.task_rates AS rates
    ON smaller.full_entry = rates.entry
    AND smaller.task_set = rates.task_set
LEFT JOIN scores.task_facts AS again
    ON smaller.entry = again.entry
    AND rates.task = again.task
GROUP BY
    smaller.suite, smaller.run_id, smaller.task_set, smaller.entry, smaller.series, smaller.n_tasks
HAVING count(again.task) FILTER (rates.pass_rate = 0) = smaller.n_tasks
    AND log_p_all_failed(count(*), count(*) FILTER (rates.pass_rate = 0), smaller.n_tasks)
    < ln(0.001)
