-- Poster figures whose label, gold or silver, is not that of all the ground truth behind them.
-- severity: critical
-- grain: run × model × part
-- label: label of the figures; `mixed` if they rest on gold and silver
-- posters: posters behind the figures, as poster_report counts them
-- n_gold: posters with gold ground truth
-- n_silver: posters with silver ground truth
-- n_unlabelled: posters whose ground truth has no label
WITH parts AS (
    SELECT run_id, model, label, 'all' AS part
    FROM scores.poster_prediction_scores
    UNION ALL
    SELECT run_id, model, label, label AS part
    FROM scores.poster_prediction_scores
),

behind AS (
    SELECT
        run_id,
        model,
        part,
        count(*) FILTER (label = 'gold') AS n_gold,
        count(*) FILTER (label = 'silver') AS n_silver,
        count(*) FILTER (label IS NULL OR label NOT IN ('gold', 'silver')) AS n_unlabelled
    FROM parts
    GROUP BY run_id, model, part
)

SELECT
    report.run_id,
    report.model,
    report.part,
    report.label,
    report.posters,
    behind.n_gold,
    behind.n_silver,
    behind.n_unlabelled
FROM poster_report AS report
JOIN behind
    ON report.run_id = behind.run_id
    AND report.model = behind.model
    AND report.part = behind.part
WHERE behind.n_unlabelled > 0
    OR behind.n_gold <> report.gold_posters
    OR behind.n_gold + behind.n_silver <> report.posters
    OR report.label IS DISTINCT FROM CASE
        WHEN behind.n_silver = 0 THEN 'gold'
        WHEN behind.n_gold = 0 THEN 'silver'
        ELSE 'mixed'
    END
ORDER BY report.run_id, report.part, report.model
