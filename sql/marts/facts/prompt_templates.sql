-- The prompt templates that runs used.
-- grain: prompt template
-- inherits: lake.runs
SELECT DISTINCT
    template_hash,
    prompt_template
FROM lake.runs
WHERE template_hash IS NOT NULL
