-- Poster figures whose label, gold or silver, is not that of all the ground truth behind them.
-- severity: critical
-- grain: run × model × part
-- label: label of the figures; gold only if all the ground truth behind them is
-- posters: posters behind the figures, as poster_report and poster_report_parts count them
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

counted AS (
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
    counted.n_gold,
    counted.n_silver,
    counted.n_unlabelled
FROM scores.poster_figures AS report
JOIN counted
    ON report.run_id = counted.run_id
    AND report.model = counted.model
    AND report.part = counted.part
WHERE counted.n_unlabelled > 0
    OR counted.n_gold <> report.gold_posters
    OR counted.n_silver <> report.silver_posters
    OR counted.n_gold + counted.n_silver <> report.posters
    OR report.label IS DISTINCT FROM CASE WHEN counted.n_silver = 0 THEN 'gold' ELSE 'silver' END
ORDER BY report.run_id, report.part, report.model
