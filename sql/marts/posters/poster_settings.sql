-- The temperature and seed that our runner sent, and where they differ from the protocol's.
-- grain: posters run × model
-- temperature: sampling temperature sent; NULL if none was
-- seed: random seed sent; NULL if none was
-- deviation: how they differ from temperature 0.1 and seed 23; NULL if they do not
WITH runs AS (
    SELECT DISTINCT run_id
    FROM lake.runs
    WHERE suite = 'posters' AND origin = 'runner'
),

sent AS (
    SELECT
        calls.suite,
        calls.run_id,
        calls.model,
        any_value(try_cast(json_extract(calls.sent, '$.temperature') AS DOUBLE)) AS temperature,
        any_value(try_cast(json_extract(calls.sent, '$.seed') AS BIGINT)) AS seed
    FROM lake.results AS calls
    SEMI JOIN runs USING (run_id)
    WHERE calls.suite = 'posters' AND calls.availability_status = 'ok'
    GROUP BY calls.suite, calls.run_id, calls.model
)

SELECT
    suite,
    run_id,
    model,
    temperature,
    seed,
    nullif(
        concat_ws(
            ', ',
            CASE
                WHEN temperature IS NULL THEN 'no temperature sent'
                WHEN temperature <> 0.1 THEN 'temperature ' || temperature || ' instead of 0.1'
            END,
            CASE
                WHEN seed IS NULL THEN 'no seed sent'
                WHEN seed <> 23 THEN 'seed ' || seed || ' instead of 23'
            END
        ),
        ''
    ) AS deviation
FROM sent
ORDER BY run_id, model
