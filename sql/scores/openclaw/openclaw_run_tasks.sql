-- The tasks of openclaw runs, as far as the prompt sets that they used are known.
-- grain: run × task id × task name × task hash, as its results have them
-- validator: JSON; NULL where nothing is validated
-- expected_tools: of the validator and of the prompt, lower-cased
-- expected_tool_calls: JSON, of the prompt alone, which is what the original program looks at
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

called AS (
    SELECT DISTINCT run_id, task_id, task_name, task_hash
    FROM lake.results
    WHERE suite = 'openclaw'
),

openclaw_tasks AS (
    SELECT *
    FROM lake.tasks
    WHERE suite = 'openclaw'
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
