-- The figures of imported published reports and ledgers, of every generation of their schema.
-- grain: report × form × model × metric
-- form: quality (24 columns), core (28, with app_core_score), labelled (with gold or silver), ledger
-- run_id: the run that the report says it is of
-- seq: place of the model in the report; 0 for the report's texts, whose model is empty
-- value, low, high: the figure and its 95 % interval; text: what is no number
SELECT
    suite,
    report,
    form,
    published_at,
    strftime(published_at, '%Y-%m-%d') AS published_on,
    label,
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
