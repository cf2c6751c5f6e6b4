-- The inputs of bfcl_verdicts: each result of a category with scores, and what the scores say.
-- grain: BFCL result of a category with scores
-- inherits: lake.results
-- n_results: results of the category and model in the run
-- n_total: results that were scored, by the scores
-- n_correct: those that passed, by the scores
-- n_failures: ids among the failures
-- n_found: ids of failures that are among the results
-- is_failure: whether the result is among the failures
-- error_type: why it failed, as recorded
WITH failures AS (
    SELECT
        run_id,
        tag,
        document ->> '$.id' AS task_id,
        min(coalesce(
            document ->> '$.error_type', document ->> '$.error.error_type', 'not recorded'
        )) AS error_type
    FROM lake.events
    WHERE suite = 'bfcl' AND event = 'failure'
    GROUP BY ALL
),

failed AS (
    SELECT run_id, tag, count(*) AS n_failures
    FROM failures
    GROUP BY run_id, tag
),

-- Where files contradict each other, no verdict follows.
figures AS (
    SELECT
        run_id,
        task_set,
        model,
        task_set || ' ' || coalesce(model, '') AS tag,
        CASE
            WHEN count(DISTINCT value) FILTER (metric = 'total_count') = 1
                THEN max(value) FILTER (metric = 'total_count')
        END AS n_total,
        CASE
            WHEN count(DISTINCT value) FILTER (metric = 'correct_count') = 1
                THEN max(value) FILTER (metric = 'correct_count')
        END AS n_correct
    FROM lake.reported_metrics
    WHERE suite = 'bfcl' AND task_set IS NOT NULL AND task_group IS NULL
    GROUP BY run_id, task_set, model
),

-- Results without a folder of their model belong to the only scores of their category.
paired AS (
    SELECT
        calls.suite,
        calls.run_id,
        calls.content_id,
        calls.task_set,
        calls.task_id,
        figures.tag,
        figures.n_total,
        figures.n_correct,
        count(*) OVER (PARTITION BY calls.suite, calls.run_id, calls.content_id) AS n_scores
    FROM lake.results AS calls
    JOIN figures
        ON calls.run_id = figures.run_id
        AND calls.task_set = figures.task_set
        AND (
            calls.model IS NULL
            OR figures.model IS NULL
            OR replace(calls.model, '/', '_') = replace(figures.model, '/', '_')
        )
    WHERE calls.suite = 'bfcl'
),

compared AS (
    SELECT
        paired.suite,
        paired.run_id,
        paired.content_id,
        paired.tag,
        paired.n_total,
        paired.n_correct,
        failures.task_id IS NOT NULL AS is_failure,
        failures.error_type,
        count(*) OVER same_scores AS n_results,
        count(failures.task_id) OVER same_scores AS n_found
    FROM paired
    LEFT JOIN failures
        ON paired.run_id = failures.run_id
        AND paired.tag = failures.tag
        AND paired.task_id = failures.task_id
    WHERE paired.n_scores = 1
    WINDOW same_scores AS (PARTITION BY paired.run_id, paired.tag)
)

SELECT
    compared.suite,
    compared.run_id,
    compared.content_id,
    compared.n_results,
    compared.n_total,
    compared.n_correct,
    coalesce(failed.n_failures, 0) AS n_failures,
    compared.n_found,
    compared.is_failure,
    compared.error_type
FROM compared
LEFT JOIN failed
    ON compared.run_id = failed.run_id
    AND compared.tag = failed.tag
