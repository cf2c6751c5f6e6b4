-- The figures of imported published reports and ledgers, in every version of their format.
-- grain: report × form × model × metric
-- inherits: lake.published
-- form: format of the report: quality (24 columns), core (28, with app_core_score), labelled (with
--     gold or silver), ledger
-- published_on: day of publication, UTC
-- seq: position of the model in the report; 0 for the report's texts, whose model is empty
-- metric: name of the metric; of a text its file; `file NAME` for a file of the folder
-- text: value that is not a number; content of a text; SHA-256 of a file
-- low: lower end of the 95 % interval of the value
-- high: upper end of the 95 % interval of the value
-- published_id: id of the figure
SELECT
    suite,
    report,
    form,
    published_at,
    strftime(published_at, '%Y-%m-%d') AS published_on,
    -- Reports over gold and silver were once labelled mixed.
    CASE label WHEN 'mixed' THEN 'silver' ELSE label END AS label,
    run_id,
    seq,
    model,
    metric,
    value,
    low,
    high,
    text,
    content_id AS published_id,
    file_sha256,
    batch
FROM lake.published
