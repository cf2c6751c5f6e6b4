-- The `models/<model>-<variation-index>.yaml` as which each palindrome model is exported.
-- grain: recorded model path, with the model and parameters that it stands for
-- inherits: results
-- is_known: whether a model file or the log has the model's name
-- file_model: the model's name as part of a file name: slashes become dashes. Indices are counted
--     per name
-- proven_index: index in the recorded path, if the model's name or the log's file name proves that
--     it is one
-- variation: proven indices are kept; the others are numbered by first use and content
-- exported_path: path of the model file that the exported log names
WITH log_names AS (
    SELECT suite, run_id, source_name
    FROM runs
),

calls AS (
    SELECT
        suite,
        run_id,
        model_path,
        model,
        recorded_model,
        parameters,
        recorded_date,
        coalesce(recorded_date, strftime(run_date, '%Y-%m-%d')) AS log_date,
        regexp_replace(regexp_replace(model_path, '^models/', ''), '\.yaml$', '') AS stem,
        regexp_replace(stem, '-[1-9][0-9]*$', '') AS stem_without_index
    FROM results
    WHERE suite = 'palindrome'
),

used AS (
    SELECT
        calls.model_path,
        calls.model,
        calls.parameters,
        any_value(coalesce(model_files.name, calls.recorded_model)) AS known_name,
        any_value(model_files.stands_for) AS stands_for,
        any_value(calls.stem) AS stem,
        any_value(calls.stem_without_index) AS stem_without_index,
        bool_or(ends_with(
            log_names.source_name, calls.recorded_date || '-' || calls.stem_without_index || '.yaml'
        )) AS is_log_without_index,
        min(calls.log_date) AS first_use
    FROM calls
    JOIN log_names USING (suite, run_id)
    LEFT JOIN scores.model_files AS model_files ON calls.model_path = model_files.model_path
    GROUP BY calls.model_path, calls.model, calls.parameters
),

named AS (
    SELECT
        *,
        known_name IS NOT NULL AS is_known,
        CASE
            WHEN known_name IS NOT NULL THEN file_name_part(known_name)
            WHEN is_log_without_index THEN file_name_part(stem_without_index)
            ELSE file_name_part(stem)
        END AS file_model,
        CASE
            WHEN starts_with(stem, file_model || '-')
                THEN try_cast(
                    regexp_extract(substr(stem, length(file_model) + 2), '^[1-9][0-9]*$') AS BIGINT
                )
        END AS recorded_index,
        md5(CASE
            WHEN stands_for IS NOT NULL THEN concat_ws('|', 'path', stands_for)
            WHEN known_name IS NOT NULL THEN concat_ws('|', 'known', known_name, whole_numbers(parameters))
            ELSE concat_ws('|', 'path', model_path)
        END) AS parameter_set
    FROM used
),

parameter_sets AS (
    SELECT
        file_model,
        parameter_set,
        min(recorded_index) AS recorded_index,
        min(first_use) AS first_use,
        -- Names that differ only in slashes may claim the same index: the first keeps it.
        row_number() OVER (
            PARTITION BY file_model, min(recorded_index) ORDER BY min(first_use), parameter_set
        ) = 1 AS is_first_claim
    FROM named
    GROUP BY file_model, parameter_set
),

proven AS (
    SELECT
        file_model,
        parameter_set,
        first_use,
        CASE WHEN is_first_claim THEN recorded_index END AS proven_index
    FROM parameter_sets
),

numbered AS (
    SELECT
        file_model,
        parameter_set,
        proven_index,
        coalesce(
            proven_index,
            coalesce(max(proven_index) OVER (PARTITION BY file_model), 0)
            + row_number() OVER (
                PARTITION BY file_model, proven_index IS NULL ORDER BY first_use, parameter_set
            )
        ) AS variation
    FROM proven
)

SELECT
    named.model_path,
    named.model,
    named.parameters,
    named.is_known,
    named.file_model,
    numbered.proven_index,
    numbered.variation,
    'models/' || named.file_model || '-' || numbered.variation || '.yaml' AS exported_path
FROM named
JOIN numbered USING (file_model, parameter_set)
ORDER BY named.file_model, numbered.variation, named.model_path, named.parameters
