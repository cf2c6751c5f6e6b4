-- Paths of model files of which versions differ in name or parameters.
-- severity: warning
-- grain: version of a model configuration
SELECT
    model_path,
    name,
    parameters,
    is_current
FROM models
QUALIFY count(DISTINCT (name, parameters)) OVER (PARTITION BY model_path) > 1
ORDER BY model_path, name, parameters
