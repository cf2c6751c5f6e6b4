-- Runs that lack something needed to repeat them: prompts, temperature or seeds.
-- severity: warning
-- grain: run × missing thing
-- inherits: lake.runs
-- missing: `hash of the prompts`, `temperature` or `seeds`
-- An answer that raters of the same run were shown is no call of that run: it has no prompt to repeat.
WITH shown AS (
    SELECT suite, run_id, unnest([result_a, result_b]) AS content_id
    FROM lake.preferences
    UNION ALL
    SELECT suite, run_id, result_id AS content_id
    FROM lake.ratings
),

-- Runs by their setups: the texts of all results would take most of the time.
unnamed AS (
    SELECT setups.suite, setups.run_id
    FROM (SELECT DISTINCT setup FROM lake.results WHERE task_hash IS NULL) AS calls
    JOIN scores.setups AS setups ON calls.setup = setups.setup
    ANTI JOIN shown ON setups.suite = shown.suite AND setups.run_id = shown.run_id
    UNION
    SELECT suite, run_id
    FROM lake.results
    SEMI JOIN shown AS rated USING (suite, run_id)
    ANTI JOIN shown USING (suite, run_id, content_id)
    WHERE task_hash IS NULL
),

facts AS (
    SELECT
        runs.suite,
        runs.run_id,
        runs.origin,
        CASE traits.prompts_hash
            WHEN 'template_hash' THEN runs.template_hash IS NOT NULL
            WHEN 'dataset_hashes'
                THEN coalesce(json_extract(runs.dataset_hashes, '$.prompts'), '{}') <> '{}'
            ELSE unnamed.run_id IS NULL
                OR json_extract(runs.dataset_hashes, '$.prompts') IS NOT NULL
        END AS has_prompts,
        traits.needs_seed IS NULL OR runs.temperature IS NOT NULL AS has_temperature,
        traits.needs_seed IS NULL OR runs.seed IS NOT NULL
            OR seeds.seed_values <> '[]' AS has_seeds
    FROM runs
    LEFT JOIN suite_traits AS traits ON runs.suite = traits.suite
    LEFT JOIN unnamed ON runs.suite = unnamed.suite AND runs.run_id = unnamed.run_id
    LEFT JOIN scores.poster_seeds AS seeds
        ON runs.suite = seeds.suite AND runs.run_id = seeds.run_id
),

gaps AS (
    SELECT suite, run_id, origin, 'hash of the prompts' AS missing
    FROM facts
    WHERE NOT has_prompts
    UNION ALL
    SELECT suite, run_id, origin, 'temperature' AS missing
    FROM facts
    WHERE NOT has_temperature
    UNION ALL
    SELECT suite, run_id, origin, 'seeds' AS missing
    FROM facts
    WHERE NOT coalesce(has_seeds, false)
)

SELECT suite, run_id, origin, missing
FROM gaps
ORDER BY suite, run_id, missing
