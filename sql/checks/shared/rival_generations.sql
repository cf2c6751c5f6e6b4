-- Generations that replace the same one, made independently: the one with the smallest hash counts.
-- severity: warning
-- grain: generation
-- inherits: lake.runs
-- parent: generation that they replace
SELECT DISTINCT
    suite,
    run_id,
    parent,
    generation
FROM lake.generations
WHERE parent IS NOT NULL
QUALIFY count(DISTINCT generation) OVER (PARTITION BY suite, run_id, parent) > 1
ORDER BY suite, run_id, parent, generation
