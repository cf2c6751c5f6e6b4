-- The calls that another run counts: the same model, prompt, answer, duration and time.
-- refreshed
-- grain: result that is not counted
-- inherits: lake.results
-- counted_in: run that counts the call. A replayed run comes first: an import of its export must
--     not pass for an answer of the model
-- An export makes up a file for a model of which only the path is known.
WITH identities AS (
    SELECT
        files.model_path,
        CASE
            WHEN files.stands_for IS NULL THEN files.name
            WHEN known.stands_for IS NULL THEN coalesce(known.name, files.stands_for)
            ELSE files.stands_for
        END AS name,
        files.settings
    FROM scores.model_files AS files
    LEFT JOIN scores.model_files AS known ON files.stands_for = known.model_path
),

calls AS (
    SELECT
        shared.suite,
        shared.run_id,
        shared.content_id,
        shared.call_hash,
        shared.run_date,
        coalesce(
            shared.provider = 'replay', list_contains(headers.replayed_models, shared.model), false
        ) AS is_replay,
        coalesce(shared.model, identities.name, shared.model_path, headers.model) AS model,
        CASE
            WHEN shared.model_path IS NOT NULL
                THEN coalesce(settings_text(shared.settings), identities.settings, '')
        END AS settings,
        -- Logs have whole seconds. Where they have neither times nor dates of calls, runs that
        -- started at different times made different calls, though a local model answers the same.
        date_trunc('second', coalesce(
            shared.started_at,
            CASE WHEN coalesce(shared.run_date, shared.model_path) IS NULL
                THEN headers.started_at END
        )) AS started_at
    FROM scores.shared_calls AS shared
    LEFT JOIN identities ON shared.model_path = identities.model_path
    LEFT JOIN scores.run_headers AS headers
        ON shared.suite = headers.suite
        AND shared.run_id = headers.run_id
),

-- A log without times holds the calls of its day.
timed AS (
    SELECT
        *,
        coalesce(
            started_at, min(started_at) OVER (PARTITION BY suite, call_hash, model, settings)
        ) AS moment
    FROM calls
),

counted AS (
    SELECT
        *,
        first_value(run_id) OVER (
            PARTITION BY suite, call_hash, model, settings, moment
            ORDER BY is_replay DESC, started_at IS NULL, run_id
        ) AS counted_in
    FROM timed
)

SELECT
    suite,
    run_id,
    content_id,
    call_hash,
    counted_in
FROM counted
WHERE run_id <> counted_in
