-- Which version of each task set counts, and by which rule.
-- board
-- grain: suite × task set
-- inherits: lake.tasks
-- version_reason: `declared`: `evalstore version`, a task file or a run names it, and of several that
--     files or runs name the latest run used it; `largest`: no run asked more tasks; `agreed`: fewer
--     tasks, but three models or more were asked exactly these last, and none was asked more since;
--     `sample`: logs with a limit, of which the most models were asked these tasks
-- task_set_hash: the version declared; NULL if none is
-- entry: hash of a run and model that was asked exactly this version; NULL if a file or a run
--     names it
-- planned_run_id: the run of this entry, where its log names more tasks than the run came to: these
--     are the version
WITH named AS (
    SELECT
        suite,
        run_id,
        max(coalesce(task_set_hash, json_extract_string(dataset_hashes, '$.prompts'))) AS named_hash
    FROM lake.runs
    ANTI JOIN (FROM suite_traits WHERE derives_task_set_hash) USING (suite)
    GROUP BY suite, run_id
),

-- Task files and suites declare versions; other logs describe what they asked.
declared AS (
    SELECT suite, task_set, task_set_hash, max(batch) AS batch
    FROM lake.tasks
    WHERE suite IN (SELECT suite FROM suite_traits WHERE declares_versions)
        OR (suite, task_set_hash) IN (SELECT (suite, named_hash) FROM named)
    GROUP BY suite, task_set, task_set_hash
),

changed_sets AS (
    SELECT suite, task_set
    FROM declared
    GROUP BY suite, task_set
    HAVING count(*) > 1
),

asked_tasks AS (
    SELECT DISTINCT suite, run_id, task_set, task_id, task_hash
    FROM scores.counted_results
    SEMI JOIN changed_sets USING (suite, task_set)
),

uses AS (
    SELECT
        asked_tasks.suite,
        asked_tasks.run_id,
        asked_tasks.task_set,
        tasks.task_set_hash,
        coalesce(any_value(named.named_hash) = tasks.task_set_hash, false) AS is_named,
        count(*) AS n_tasks
    FROM asked_tasks
    JOIN lake.tasks AS tasks
        ON asked_tasks.suite = tasks.suite
        AND asked_tasks.task_set = tasks.task_set
        AND asked_tasks.task_id = tasks.task_id
        AND coalesce(asked_tasks.task_hash = tasks.task_hash, true)
    LEFT JOIN named
        ON asked_tasks.suite = named.suite
        AND asked_tasks.run_id = named.run_id
    GROUP BY asked_tasks.suite, asked_tasks.run_id, asked_tasks.task_set, tasks.task_set_hash
),

used AS (
    SELECT
        uses.suite,
        uses.task_set,
        uses.task_set_hash,
        times.position
    FROM uses
    JOIN declared USING (suite, task_set, task_set_hash)
    JOIN scores.run_times AS times
        ON uses.suite = times.suite
        AND uses.run_id = times.run_id
    QUALIFY row_number() OVER (
        PARTITION BY uses.suite, uses.task_set, uses.run_id
        ORDER BY is_named DESC, n_tasks DESC, declared.batch DESC, uses.task_set_hash
    ) = 1
),

newest AS (
    SELECT declared.suite, declared.task_set, declared.task_set_hash
    FROM declared
    LEFT JOIN used USING (suite, task_set, task_set_hash)
    QUALIFY row_number() OVER (
        PARTITION BY declared.suite, declared.task_set
        ORDER BY used.position DESC NULLS LAST, declared.batch DESC, declared.task_set_hash
    ) = 1
),

-- `evalstore version`
tagged AS (
    SELECT
        sets.suite,
        sets.task_set,
        arg_max(sets.entry, (tags.tagged_at, sets.n_tasks, times.position, sets.entry)) AS entry
    FROM scores.asked_sets AS sets
    JOIN run_tags AS tags
        ON sets.suite = tags.suite
        AND sets.run_id = tags.run_id
    JOIN scores.run_times AS times
        ON sets.suite = times.suite
        AND sets.run_id = times.run_id
    WHERE tags.name = 'task-set-version'
    GROUP BY sets.suite, sets.task_set
),

asked AS (
    SELECT
        sets.suite,
        sets.task_set,
        sets.asked,
        sets.entry,
        greatest(sets.n_tasks, headers.n_planned) AS n_tasks,
        sets.is_answered,
        CASE WHEN headers.n_planned > sets.n_tasks THEN sets.run_id END AS planned_run_id,
        times.position,
        coalesce(headers.task_limit <= sets.n_tasks, false) AS is_limited,
        row_number() OVER (
            of_series ORDER BY sets.is_answered DESC, times.position DESC
        ) = 1 AS is_latest,
        row_number() OVER (
            of_series ORDER BY sets.is_answered DESC, sets.n_tasks DESC, times.position DESC
        ) = 1 AS is_fullest
    FROM scores.asked_sets AS sets
    ANTI JOIN newest
        ON sets.suite = newest.suite
        AND sets.task_set = newest.task_set
    JOIN scores.entries AS entries ON sets.entry = entries.entry
    JOIN scores.run_times AS times
        ON sets.suite = times.suite
        AND sets.run_id = times.run_id
    LEFT JOIN scores.run_headers AS headers
        ON sets.suite = headers.suite
        AND sets.run_id = headers.run_id
    WINDOW of_series AS (PARTITION BY sets.suite, sets.task_set, entries.series)
),

sets AS (
    SELECT
        suite,
        task_set,
        asked,
        max(n_tasks) AS n_tasks,
        bool_or(is_answered) AS is_answered,
        bool_or(is_limited) AS is_limited,
        count(*) FILTER (is_fullest) AS n_models,
        max(position) AS last_position,
        arg_max(entry, (n_tasks, position, entry)) AS entry,
        arg_max_null(planned_run_id, (n_tasks, position, entry)) AS planned_run_id
    FROM asked
    GROUP BY suite, task_set, asked
),

compared AS (
    SELECT
        *,
        max(last_position) FILTER (is_answered) OVER (
            PARTITION BY suite, task_set
            ORDER BY n_tasks RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS last_fuller
    FROM sets
),

agreed AS (
    SELECT compared.suite, compared.task_set, compared.asked
    FROM compared
    JOIN asked USING (suite, task_set, asked)
    WHERE asked.is_latest AND asked.is_answered AND asked.position > compared.last_fuller
    GROUP BY compared.suite, compared.task_set, compared.asked
    HAVING count(*) >= 3
),

chosen AS (
    SELECT
        suite,
        task_set,
        entry,
        planned_run_id,
        CASE
            WHEN agreed.asked IS NOT NULL THEN 'agreed'
            WHEN is_limited THEN 'sample'
            ELSE 'largest'
        END AS version_reason
    FROM compared
    LEFT JOIN agreed USING (suite, task_set, asked)
    QUALIFY row_number() OVER (
        PARTITION BY suite, task_set
        ORDER BY
            is_answered DESC,
            agreed.asked IS NOT NULL DESC,
            CASE WHEN is_limited OR last_fuller IS NULL THEN n_models ELSE 0 END DESC,
            n_tasks DESC,
            n_models DESC,
            last_position DESC
    ) = 1
)

SELECT
    suite,
    task_set,
    'declared' AS version_reason,
    task_set_hash,
    NULL::UBIGINT AS entry,
    NULL::VARCHAR AS planned_run_id
FROM newest
ANTI JOIN tagged USING (suite, task_set)
UNION ALL
SELECT suite, task_set, version_reason, NULL, entry, planned_run_id
FROM chosen
ANTI JOIN tagged USING (suite, task_set)
UNION ALL
SELECT suite, task_set, 'declared', NULL, entry, NULL
FROM tagged
