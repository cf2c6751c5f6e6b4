-- The model configurations, all versions of them.
-- grain: version of a model configuration
-- provider: as the file says, else the part of the name before its first slash
-- parameters: JSON, keys sorted
-- settings: the parameters for people
-- is_current: the version that logs which name the path are read with
-- is_unresolved: made by an export for a model whose own file was missing
SELECT
    content_id AS model_version,
    model_path,
    name,
    coalesce(
        provider, CASE WHEN contains(name, '/') THEN split_part(name, '/', 1) END
    ) AS provider,
    parameters,
    settings_text(parameters) AS settings,
    version,
    metadata,
    price,
    coalesce(skip, false) AS skip,
    coalesce(unresolved, false) AS is_unresolved,
    row_number() OVER (
        PARTITION BY model_path
        ORDER BY coalesce(unresolved, false), json_array_length(record_keys) DESC, content_id
    ) = 1 AS is_current,
    record_keys,
    extra,
    source,
    file_sha256,
    batch
FROM lake.models
