-- The prompt templates that runs were made with.
-- grain: prompt template
SELECT DISTINCT
    template_hash,
    prompt_template
FROM lake.runs
WHERE template_hash IS NOT NULL
