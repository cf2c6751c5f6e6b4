-- Gold or silver: the label of each poster run, and of how many posters.
-- grain: posters run
-- first: run_id, label, gold_posters, silver_posters, label_basis
-- ground_truth_available: scored posters: with an image and ground truth, and not excluded
-- gold_posters: scored posters with gold ground truth
-- silver_posters: scored posters with silver ground truth
-- label: gold if all scored posters are gold, silver if one is not; NULL without ground truth
-- label_basis: of the gold posters: proven in the store, declared at an import, or `proven and
--     declared`; NULL if there are none
WITH counts AS (
    SELECT
        suite,
        run_id,
        count(*) AS ground_truth_available,
        count(*) FILTER (label = 'gold') AS gold_posters,
        count(*) FILTER (label = 'silver') AS silver_posters,
        count(*) FILTER (label = 'gold' AND label_basis = 'proven') AS proven_posters
    FROM scores.poster_ground_truth
    WHERE status = 'ok' AND exclusion IS NULL AND gold IS NOT NULL
    GROUP BY suite, run_id
)

SELECT
    runs.suite,
    runs.run_id,
    coalesce(counts.ground_truth_available, 0) AS ground_truth_available,
    coalesce(counts.gold_posters, 0) AS gold_posters,
    coalesce(counts.silver_posters, 0) AS silver_posters,
    CASE
        WHEN counts.gold_posters = counts.ground_truth_available THEN 'gold'
        WHEN counts.ground_truth_available > 0 THEN 'silver'
    END AS label,
    CASE
        WHEN coalesce(counts.gold_posters, 0) = 0 THEN NULL
        WHEN counts.proven_posters = counts.gold_posters THEN 'proven'
        WHEN counts.proven_posters = 0 THEN 'declared'
        ELSE 'proven and declared'
    END AS label_basis
FROM scores.poster_run_setups AS runs
LEFT JOIN counts ON runs.run_id = counts.run_id
ORDER BY runs.run_id
