-- What judges said about each answer: score, verdict and reason.
-- grain: judgement × rater
-- inherits: lake.judgements
-- first: run_id, model, task_id, judge, rater, score, passed, reason
-- rater: which of several judges in the same record it is, as its fields name it: `gpt` of
--     `gpt_score` and `gpt_reasoning`; NULL if there is one
-- score: the judge's score, on the scale that it used
-- passed: the judge's verdict; NULL if it gave none
-- reason: the judge's reason
-- judgement_id: id of the judgement
WITH records AS (
    SELECT *, CASE WHEN json_type(document) = 'OBJECT' THEN document END AS fields
    FROM lake.judgements
),

reasons AS (
    SELECT
        *,
        list_filter(
            coalesce(json_keys(fields), []),
            lambda name: regexp_matches(
                name, '^([A-Za-z0-9].*_)?(reason|reasoning|rationale|explanation)$'
            )
        ) AS names
    FROM records
),

rated AS (
    SELECT *, unnest(CASE WHEN len(names) = 0 THEN [NULL] ELSE names END) AS name
    FROM reasons
),

named AS (
    SELECT *, coalesce(regexp_extract(name, '^(.*_)?[a-z]+$', 1), '') AS prefix
    FROM rated
)

SELECT
    suite,
    run_id,
    result_id,
    provider,
    model,
    task_id,
    judge,
    nullif(rtrim(prefix, '_'), '') AS rater,
    coalesce(
        try_cast(json_extract_string(fields, prefix || 'score') AS DOUBLE), overall_score
    ) AS score,
    try_cast(json_extract_string(fields, prefix || 'passed') AS BOOLEAN) AS passed,
    json_extract_string(fields, name) AS reason,
    cost_usd,
    errors,
    document,
    raw_output,
    content_id AS judgement_id,
    file_sha256,
    batch
FROM named
