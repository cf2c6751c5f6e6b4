-- The model file that counts for each path.
-- refreshed
-- grain: path of a model file
-- inherits: models
-- stands_for: path as recorded, where the file is missing or an export made it up
SELECT
    model_path,
    name,
    provider,
    parameters,
    settings,
    is_unresolved,
    CASE WHEN is_unresolved THEN json_extract_string(metadata, '$.recorded_path') END AS stands_for
FROM models
WHERE is_current
