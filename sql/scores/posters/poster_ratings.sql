-- What posters say as ratings: how good each prediction is by its gold record, and what people's records,
-- gold and the records of models (silver) say of each poster. A record that is no object says nothing.
-- grain: rating
-- inherits: lake.ratings
-- run_id: run of the prediction; NULL for a record, which belongs to no run
-- criterion: overall: app_quality of a prediction by gold; events: number of events of a poster; dates: their
--     dates in order
-- rater_kind: gold for adjudicated or declared records that follow the schema, and scores by them; human for
--     annotators; judge for a model that wrote a record
-- value: app_quality, or the number of events
-- label: the dates; NULL for other criteria
WITH records AS (
    SELECT
        records.* EXCLUDE (label),
        CASE
            WHEN current.content_id IS NOT NULL THEN 'gold'
            WHEN records.kind = 'human' THEN 'human'
            WHEN records.kind = 'model' THEN 'judge'
        END AS rater_kind,
        json_type(records.document) = 'OBJECT' AS is_read,
        json_extract_string(records.document, '$.events[*].date') AS dates
    FROM lake.annotations AS records
    LEFT JOIN (FROM scores.poster_records WHERE label = 'gold') AS current
        ON records.content_id = current.content_id
    WHERE records.suite = 'posters'
),

said AS (
    SELECT
        *,
        unnest(['events', 'dates']) AS criterion,
        unnest([
            CASE WHEN is_read THEN CAST(coalesce(json_array_length(document, '$.events'), 0) AS DOUBLE) END,
            NULL
        ]) AS value,
        unnest([
            NULL,
            CASE
                WHEN is_read
                    THEN coalesce(nullif(array_to_string(list_sort(dates), ', '), ''), 'none')
            END
        ]) AS label
    FROM records
    WHERE rater_kind IS NOT NULL
)

SELECT
    suite,
    task_set,
    task_id,
    criterion,
    annotator AS rater,
    rater_kind,
    CASE WHEN rater_kind = 'judge' THEN to_json({model: annotator}) END AS rater_config,
    value,
    label,
    CASE WHEN is_read THEN 'ok' ELSE 'unparsed' END AS status,
    -- A call writes all of a record: its cost stands once.
    CASE WHEN criterion = 'events' THEN cost_usd END AS cost_usd,
    annotated_at AS rated_at,
    content_id || ' ' || criterion AS content_id,
    file_sha256,
    batch
FROM said
UNION ALL BY NAME
SELECT
    scored.suite,
    scored.run_id,
    calls.task_set,
    scored.task_id,
    scored.model,
    predictions.content_id AS result_id,
    'overall' AS criterion,
    'app_quality' AS rater,
    'gold' AS rater_kind,
    scored.app_quality AS value,
    0.0 AS scale_low,
    100.0 AS scale_high,
    'ok' AS status,
    predictions.content_id || ' app_quality' AS content_id,
    calls.file_sha256,
    calls.batch
FROM scores.poster_prediction_scores AS scored
JOIN scores.poster_predictions AS predictions
    ON scored.run_id = predictions.run_id
    AND scored.model = predictions.model
    AND scored.task_id = predictions.task_id
JOIN lake.results AS calls
    ON predictions.suite = calls.suite
    AND predictions.run_id = calls.run_id
    AND predictions.content_id = calls.content_id
ANTI JOIN scores.replayed_models AS replays
    ON scored.suite = replays.suite
    AND scored.run_id = replays.run_id
    AND scored.model = replays.model
WHERE scored.label = 'gold'
