-- When each run took place, and its position in time.
-- grain: run
-- run_date: local date in the log, else the UTC day of the run's start or of its first call; NULL
--     if neither is known or the log's text is not a date
-- started_at: start of the run, else of its first call, UTC
-- position: position of the run among the suite's runs, from 1: by start, or by the beginning of
--     its date where no time is known, then by run_id; runs without a date come first
WITH sources AS (
    SELECT
        suite,
        run_id,
        run_date,
        started_at,
        row_number() OVER (
            PARTITION BY suite, run_id
            ORDER BY source_rows DESC NULLS LAST, ended_at IS NULL, content_id
        ) AS place
    FROM lake.runs
),

-- With several sources, only some may have a time.
headers AS (
    SELECT
        suite,
        run_id,
        arg_min(run_date, place) AS run_date,
        arg_min(started_at, place) AS started_at
    FROM sources
    GROUP BY suite, run_id
),

times AS (
    SELECT
        headers.suite,
        headers.run_id,
        coalesce(headers.started_at, calls.first_started_at) AS started_at,
        coalesce(
            calendar_date(headers.run_date),
            calls.first_date,
            CAST(coalesce(headers.started_at, calls.first_started_at) AS DATE)
        ) AS run_date
    FROM headers
    LEFT JOIN scores.run_calls AS calls
        ON headers.suite = calls.suite
        AND headers.run_id = calls.run_id
)

SELECT
    suite,
    run_id,
    run_date,
    started_at,
    row_number() OVER (
        PARTITION BY suite
        ORDER BY coalesce(started_at, CAST(run_date AS TIMESTAMP)) NULLS FIRST, run_id
    ) AS position
FROM times
