-- The tasks of openclaw runs whose prompt set is known.
-- grain: run × task id × task name × task hash, as in its results
-- inherits: lake.tasks
-- task_hash: content hash of the task's version, as in the result; NULL if not recorded
-- validator: rule that decides whether an answer passes, JSON; NULL if nothing is validated
-- expected_tools: tools that the validator and the prompt expect, in lower case
-- expected_tool_calls: tools that the prompt expects, JSON; the original program looks only at
--     these
WITH prompt_sets AS (
    SELECT
        run_id,
        task_set,
        json_extract_string(dataset_hashes, '$.prompts') AS task_set_hash
    FROM lake.runs
    WHERE suite = 'openclaw' AND task_set IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY run_id
        ORDER BY task_set_hash IS NULL, source_rows DESC NULLS LAST, content_id
    ) = 1
),

openclaw_tasks AS (
    SELECT *
    FROM lake.tasks
    WHERE suite = 'openclaw'
),

called AS (
    SELECT DISTINCT run_id, task_id, task_name, task_hash
    FROM lake.results
    WHERE suite = 'openclaw' AND task_id IN (SELECT task_id FROM openclaw_tasks)
),

candidates AS (
    SELECT
        called.*,
        openclaw_tasks.* EXCLUDE (suite, task_id, task_name, task_hash),
        coalesce(openclaw_tasks.task_hash = called.task_hash, false) AS is_named,
        openclaw_tasks.task_name IS NOT DISTINCT FROM called.task_name AS is_same_name
    FROM called
    LEFT JOIN prompt_sets ON called.run_id = prompt_sets.run_id
    JOIN openclaw_tasks
        ON called.task_id = openclaw_tasks.task_id
        AND coalesce(
            openclaw_tasks.task_hash = called.task_hash,
            openclaw_tasks.task_set_hash = prompt_sets.task_set_hash,
            openclaw_tasks.task_set = prompt_sets.task_set
        )
)

SELECT
    'openclaw' AS suite,
    run_id,
    task_id,
    task_name,
    task_hash,
    task_set,
    prompt,
    validator,
    expected_tools,
    json_extract(extra, '$.expected_tool_calls') AS expected_tool_calls
FROM candidates
QUALIFY row_number() OVER (
    PARTITION BY run_id, task_id, task_name, task_hash
    ORDER BY is_named DESC, is_same_name DESC, seq, content_id
) = 1
