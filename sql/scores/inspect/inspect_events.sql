-- The events of Inspect's samples, nested ones of older logs included, in the order of their times.
-- grain: result × event
-- inherits: lake.results
-- seq: position in the sample, from 1
-- event: the event, as recorded
-- attachments: long texts of the sample by their hash, an object
WITH RECURSIVE samples AS (
    SELECT
        suite,
        run_id,
        content_id AS result_id,
        coalesce(
            json_extract(extra, '$.events'), json_extract(extra, '$.transcript.events')
        ) AS events,
        coalesce(
            json_extract(extra, '$.attachments'), json_extract(extra, '$.transcript.content')
        ) AS attachments
    FROM lake.results
    WHERE suite = 'inspect' AND contains(extra, '"events"') AND NOT is_replaced
),

unnested AS (
    SELECT
        suite,
        run_id,
        result_id,
        attachments,
        [unnest(generate_series(1, len(json_extract(events, '$[*]'))))] AS place,
        unnest(json_extract(events, '$[*]')) AS event
    FROM samples
    UNION ALL
    SELECT
        suite,
        run_id,
        result_id,
        attachments,
        list_append(place, unnest(generate_series(1, len(json_extract(event, '$.events[*]'))))),
        unnest(json_extract(event, '$.events[*]'))
    FROM unnested
    WHERE json_array_length(event, '$.events') > 0
)

SELECT
    suite,
    run_id,
    result_id,
    row_number() OVER (
        PARTITION BY suite, run_id, result_id
        ORDER BY
            try_cast(json_extract_string(event, '$.timestamp') AS TIMESTAMPTZ) NULLS FIRST, place
    ) AS seq,
    attachments,
    event
FROM unnested
