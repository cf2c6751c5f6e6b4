-- Generations that replace the same one: made at the same moment, only the first in order counts.
-- severity: warning
-- grain: generation
SELECT DISTINCT
    suite,
    run_id,
    parent,
    generation
FROM lake.generations
WHERE parent IS NOT NULL
QUALIFY count(DISTINCT generation) OVER (PARTITION BY suite, run_id, parent) > 1
ORDER BY suite, run_id, parent, generation
