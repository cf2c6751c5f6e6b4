-- Paths of model files whose versions differ in name or parameters.
-- severity: warning
-- grain: version of a model configuration
-- inherits: models
SELECT
    model_path,
    name,
    parameters,
    is_current
FROM models
QUALIFY count(DISTINCT (name, parameters)) OVER (PARTITION BY model_path) > 1
ORDER BY model_path, name, parameters
