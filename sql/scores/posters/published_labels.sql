-- Gold or silver: the label of each published poster report, as it says itself.
-- grain: report
-- inherits: lake.published
-- label: gold or silver as recorded; else silver if final_report.md mentions silver ground truth: the
--     original records the label in prose only. Prose never makes a report gold. NULL if it says
--     nothing
-- label_source: recorded, or final_report.md; NULL without a label
-- gold_posters: scored posters with gold ground truth; NULL if not recorded
-- silver_posters: scored posters with silver ground truth; NULL if not recorded
WITH statements AS (
    SELECT
        suite,
        report,
        arg_max(label, batch) FILTER (label IS NOT NULL) AS recorded,
        bool_or(metric = 'final_report.md' AND regexp_matches(text, '(?i)\bsilver\b')) AS is_silver,
        arg_max(value, batch) FILTER (metric = 'posters') AS posters,
        arg_max(value, batch) FILTER (metric = 'gold_posters') AS gold
    FROM published
    WHERE suite = 'posters'
    GROUP BY suite, report
)

SELECT
    suite,
    report,
    coalesce(recorded, CASE WHEN is_silver THEN 'silver' END) AS label,
    CASE WHEN recorded IS NOT NULL THEN 'recorded' WHEN is_silver THEN 'final_report.md' END
        AS label_source,
    try_cast(gold AS BIGINT) AS gold_posters,
    try_cast(posters - gold AS BIGINT) AS silver_posters
FROM statements
