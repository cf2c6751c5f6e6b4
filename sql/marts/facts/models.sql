-- The model configurations, in all versions.
-- grain: version of a model configuration
-- inherits: lake.models
-- first: name, provider, settings, model_path, is_current
-- model_version: id of this version
-- provider: as the file says, else the part of the name before its first slash
-- is_unresolved: whether an export made it up for a model whose own file was missing
-- is_current: whether results that name this path are read with this version
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
