-- The tasks of palindrome logs, as they are exported.
-- grain: palindrome result
-- inherits: results, palindrome_variations, lake.runs
-- log_date: date of the log: as recorded, else run_date
-- run_started_at: start of the run's first call, UTC
-- is_correct: recorded verdict, else the computed one
-- log_extra: fields of the whole log that the specification does not have, as JSON
-- obstacle: why the specification cannot hold it; NULL if it can
WITH templates AS (
    SELECT template_hash, prompt_template
    FROM prompt_templates
),

headers AS (
    SELECT suite, run_id, extra
    FROM runs
),

variations AS (
    SELECT model_path, model, parameters, file_model, variation, exported_path
    FROM palindrome_variations
)

SELECT
    results.run_id,
    results.run_date,
    coalesce(results.recorded_date, strftime(results.run_date, '%Y-%m-%d')) AS log_date,
    results.model,
    results.model_path,
    variations.file_model,
    variations.variation,
    variations.exported_path,
    results.template_hash,
    templates.prompt_template,
    min(results.started_at) OVER (PARTITION BY results.run_id) AS run_started_at,
    results.seq,
    results.result_id,
    results.prompt,
    results.answer,
    verdicts.passed AS is_correct,
    results.duration_seconds,
    results.started_at,
    results.input_tokens,
    results.output_tokens,
    results.cost_usd,
    results.cost_source,
    results.attempt,
    results.record_keys,
    results.extra,
    headers.extra AS log_extra,
    results.is_replay,
    results.duplicate_of,
    CASE
        WHEN calendar_date(log_date) IS NULL THEN 'its date is not a calendar date'
        WHEN templates.prompt_template IS NULL THEN 'its prompt template is missing'
        WHEN NOT contains(templates.prompt_template, '{prompt}')
            THEN 'its prompt template has no {prompt}'
        WHEN results.prompt IS NULL THEN 'a task has no prompt'
        WHEN results.answer IS NULL THEN 'a task has no answer'
        WHEN verdicts.passed IS NULL THEN 'a task has no verdict'
        WHEN results.duration_seconds IS NULL THEN 'a task has no duration'
    END AS obstacle
FROM results
JOIN verdicts
    ON results.suite = verdicts.suite
    AND results.run_id = verdicts.run_id
    AND results.result_id = verdicts.result_id
JOIN variations
    ON results.model_path IS NOT DISTINCT FROM variations.model_path
    AND results.model IS NOT DISTINCT FROM variations.model
    AND results.parameters = variations.parameters
JOIN headers
    ON results.suite = headers.suite
    AND results.run_id = headers.run_id
LEFT JOIN templates ON results.template_hash = templates.template_hash
WHERE results.suite = 'palindrome'
