-- The dataset version and the models of each poster run.
-- grain: posters run
-- inherits: lake.runs
-- models: models that the run's folder names or that have results, sorted
WITH headers AS (
    SELECT *
    FROM lake.runs
    WHERE suite = 'posters'
    QUALIFY row_number() OVER (
        PARTITION BY run_id ORDER BY batch DESC, source_rows DESC NULLS LAST, content_id
    ) = 1
),

newest_versions AS (
    SELECT task_set, arg_max(task_set_hash, batch || task_set_hash) AS task_set_hash
    FROM lake.tasks
    WHERE suite = 'posters'
    GROUP BY task_set
),

called AS (
    SELECT run_id, list(DISTINCT model) AS models, any_value(task_set) AS task_set
    FROM lake.results
    WHERE suite = 'posters' AND model IS NOT NULL
    GROUP BY run_id
)

SELECT
    'posters' AS suite,
    headers.run_id,
    coalesce(headers.task_set, called.task_set) AS task_set,
    coalesce(headers.task_set_hash, newest_versions.task_set_hash) AS task_set_hash,
    list_sort(
        list_distinct(
            list_concat(
                coalesce(json_extract_string(headers.config, '$.models[*]'), []),
                coalesce(called.models, [])
            )
        )
    ) AS models,
    headers.config,
    headers.batch
FROM headers
LEFT JOIN called ON headers.run_id = called.run_id
LEFT JOIN newest_versions
    ON coalesce(headers.task_set, called.task_set) = newest_versions.task_set
