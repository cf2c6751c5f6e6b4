-- Votes of judges for the longer of two answers, and for that of the judge's own family, next to those of others
-- on the same pairs.
-- grain: suite × criterion × judge × bias × other
-- suite: suite of the answers
-- criterion: what was asked for
-- judge: name of the judge; see rater_name
-- bias: length, in characters, of pairs of which one is longer; or family, of pairs of which one model is of the
--     judge's own family (see model_family)
-- other: people, gold, or judges of other families; NULL for all pairs of the judge
-- n_items: pairs
-- votes: mean vote of the judge in each task, 1 for the answer that is longer or of its family, 0 for the other
-- other_votes: mean vote of the others, likewise
WITH texts AS (
    SELECT
        shown.suite,
        shown.answer,
        min(CASE
            WHEN calls.raw_output_truncated IS NOT TRUE THEN length(coalesce(calls.raw_output, calls.answer))
        END) AS n_characters
    FROM (
        SELECT answers_suite AS suite, answer_a AS answer, suite_a AS result_suite, run_id_a AS run_id, result_a AS result_id
        FROM preferences
        UNION
        SELECT answers_suite, answer_b, suite_b, run_id_b, result_b FROM preferences
    ) AS shown
    JOIN lake.results AS calls
        ON shown.result_suite = calls.suite
        AND shown.run_id = calls.run_id
        AND shown.result_id = calls.content_id
    GROUP BY shown.suite, shown.answer
),

verdicts AS (
    SELECT
        answers_suite AS suite,
        criterion,
        concat_ws(' turn ', pair, turn) AS item,
        min(concat_ws('/', task_set, task_id)) AS unit,
        rater_name(rater, rater_kind, rater_config) AS side,
        CASE rater_kind WHEN 'human' THEN 'people' WHEN 'gold' THEN 'gold' ELSE 'judges' END AS kind,
        min(model_family(rater_config ->> '$.model')) AS family,
        min(model_family(model_a)) AS family_a,
        min(model_family(model_b)) AS family_b,
        min(answer_a) AS answer_a,
        min(answer_b) AS answer_b,
        exact_mean(share_b) AS share_b
    FROM preference_verdicts
    WHERE share_b IS NOT NULL
    GROUP BY ALL
),

own AS (
    SELECT verdicts.*, 'length' AS bias, text_b.n_characters > text_a.n_characters AS is_b
    FROM verdicts
    JOIN texts AS text_a ON verdicts.suite = text_a.suite AND verdicts.answer_a = text_a.answer
    JOIN texts AS text_b ON verdicts.suite = text_b.suite AND verdicts.answer_b = text_b.answer
    WHERE verdicts.kind = 'judges' AND text_a.n_characters <> text_b.n_characters
    UNION ALL
    SELECT *, 'family' AS bias, family_b = family AS is_b
    FROM verdicts
    WHERE kind = 'judges' AND (family_a = family) <> (family_b = family)
),

compared AS (
    SELECT suite, criterion, side, bias, NULL AS other, unit, is_b, share_b, NULL::DOUBLE AS other_share_b
    FROM own
    UNION ALL
    SELECT
        own.suite,
        own.criterion,
        own.side,
        own.bias,
        theirs.kind,
        own.unit,
        own.is_b,
        own.share_b,
        exact_mean(theirs.share_b)
    FROM own
    JOIN verdicts AS theirs
        ON own.suite = theirs.suite
        AND own.criterion = theirs.criterion
        AND own.item = theirs.item
        AND (theirs.kind <> 'judges' OR theirs.family <> own.family)
    GROUP BY
        own.suite, own.criterion, own.side, own.bias, theirs.kind, own.unit, own.item, own.is_b,
        own.share_b
),

tasks AS (
    SELECT
        suite,
        criterion,
        side,
        bias,
        other,
        unit,
        count(*) AS n_items,
        exact_mean(if(is_b, share_b, 1 - share_b)) AS vote,
        exact_mean(if(is_b, other_share_b, 1 - other_share_b)) AS other_vote
    FROM compared
    GROUP BY suite, criterion, side, bias, other, unit
)

SELECT
    suite,
    criterion,
    side AS judge,
    bias,
    other,
    CAST(sum(n_items) AS BIGINT) AS n_items,
    list(vote ORDER BY unit) AS votes,
    list(other_vote ORDER BY unit) AS other_votes
FROM tasks
GROUP BY suite, criterion, side, bias, other
