-- Which item each result answers, and what was sent: equal items and equal texts have equal
-- hashes in all runs, suites and tools.
-- grain: result
-- inherits: results, tasks
-- first: run_id, model, task_set, task_id, item_hash, prompt_hash
-- item_hash: hash of the task's question, choices and right answers, see tasks: of the version that
--     the result names, else of the task in the set's version that the run names, else of the task
--     of this id in the set, else of the task with this prompt; NULL where several would do and
--     differ, and where the task or its question is not known
-- prompt_hash: SHA-256 of the text sent: the prompt in its template, as UTF-8; NULL where the log
--     does not hold it
WITH items AS (
    SELECT
        suite,
        task_id,
        task_hash,
        task_set_hash,
        task_set,
        prompt,
        any_value({hash: item_hash}) AS item
    FROM tasks
    GROUP BY GROUPING SETS (
        (suite, task_id, task_hash),
        (suite, task_id, task_set_hash),
        (suite, task_id, task_set),
        (suite, prompt)
    )
    HAVING count(DISTINCT coalesce(item_hash, '')) = 1
),

named_sets AS (
    SELECT
        suite,
        run_id,
        max(coalesce(task_set_hash, json_extract_string(dataset_hashes, '$.prompts')))
            AS task_set_hash
    FROM lake.runs
    GROUP BY suite, run_id
)

SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    calls.provider,
    calls.model,
    calls.settings,
    calls.task_set,
    calls.task_id,
    calls.attempt,
    calls.success,
    calls.is_replay,
    coalesce(by_version.item, by_named_set.item, by_set.item, by_prompt.item).hash AS item_hash,
    sha256(
        CASE
            WHEN calls.template_hash IS NULL THEN nullif(calls.prompt, '')
            ELSE replace(templates.prompt_template, '{prompt}', nullif(calls.prompt, ''))
        END
    ) AS prompt_hash
FROM results AS calls
LEFT JOIN prompt_templates AS templates ON calls.template_hash = templates.template_hash
LEFT JOIN named_sets
    ON calls.suite = named_sets.suite
    AND calls.run_id = named_sets.run_id
LEFT JOIN items AS by_version
    ON calls.suite = by_version.suite
    AND calls.task_id = by_version.task_id
    AND calls.task_hash = by_version.task_hash
LEFT JOIN items AS by_named_set
    ON calls.suite = by_named_set.suite
    AND calls.task_id = by_named_set.task_id
    AND named_sets.task_set_hash = by_named_set.task_set_hash
LEFT JOIN items AS by_set
    ON calls.suite = by_set.suite
    AND calls.task_id = by_set.task_id
    AND calls.task_set = by_set.task_set
LEFT JOIN items AS by_prompt
    ON calls.suite = by_prompt.suite
    AND calls.prompt = by_prompt.prompt
