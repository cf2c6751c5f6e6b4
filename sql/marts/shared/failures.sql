-- The calls without an answer, by reason.
-- grain: run × provider × model × settings × availability status × failure type
-- inherits: results
-- first: run_id, model, failure_type, n, example
-- n: number of such calls
-- example: first 200 characters of the text that the first such call returned
SELECT
    suite,
    run_id,
    times.run_date,
    provider,
    model,
    settings,
    availability_status,
    failure_type,
    count(*) AS n,
    arg_min(left(raw_output, 200), seq) AS example
FROM scores.counted_results
JOIN scores.run_times AS times USING (suite, run_id)
WHERE availability_status IS DISTINCT FROM 'ok' OR success IS DISTINCT FROM true
GROUP BY
    suite, run_id, times.run_date, provider, model, settings, availability_status, failure_type
ORDER BY suite, run_id, provider, model, settings, n DESC, availability_status, failure_type
