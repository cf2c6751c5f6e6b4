-- The prediction of each model for each poster: that of the last try with a result.
-- grain: posters run × model × poster
-- inherits: lake.results
-- prediction: JSON text; NULL if there is none
WITH stood_in_for AS (
    SELECT run_id, stands_in_for AS content_id
    FROM lake.results
    WHERE suite = 'posters' AND stands_in_for IS NOT NULL
)

SELECT
    calls.suite,
    calls.run_id,
    calls.model,
    calls.task_id,
    coalesce(calls.source, calls.parsed_output) AS prediction,
    coalesce(
        calls.output_state,
        CASE WHEN calls.parsed_output IS NULL THEN 'missing' ELSE 'object' END
    ) AS output_state,
    calls.cost_usd,
    calls.provider,
    calls.content_id
FROM lake.results AS calls
ANTI JOIN stood_in_for USING (run_id, content_id)
WHERE calls.suite = 'posters' AND calls.model IS NOT NULL AND calls.task_id IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY calls.run_id, calls.model, calls.task_id
    ORDER BY
        calls.output_state = 'missing' NULLS FIRST,
        calls.attempt DESC NULLS LAST,
        calls.batch DESC,
        calls.seq DESC,
        calls.content_id
) = 1
