-- The posters that are not scored, and why.
-- grain: run × poster
-- inherits: scores.poster_ground_truth
-- reason: exclusion in the manifest (carousel, not_tour, no_date, or text), or what is missing
-- is_excluded: whether the manifest excludes it
SELECT
    suite,
    run_id,
    task_id,
    seq,
    CASE
        WHEN status <> 'ok' THEN 'no image'
        WHEN exclusion IS NOT NULL THEN exclusion
        ELSE 'no ground truth'
    END AS reason,
    exclusion IS NOT NULL AS is_excluded
FROM scores.poster_ground_truth
WHERE status <> 'ok' OR exclusion IS NOT NULL OR gold IS NULL
ORDER BY run_id, seq, task_id
