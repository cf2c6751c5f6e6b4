-- What each judge, each person, and settled labels say of each item: an answer that was rated, or a pair of
-- answers that was voted on. Of two orders that disagree it is the answer that they favour together, if any,
-- else a tie.
-- grain: rating, or verdict on a pair
-- inherits: ratings, preference_verdicts
-- suite: suite of the rated results; that of the ratings where the store has no results
-- kind: rating or preference
-- criterion: what was asked for
-- item: the answer, or the pair of answers, and the turn
-- unit: the task: items of one task depend on each other
-- side: name of the rater; see rater_name
-- side_rank: 0 for a judge, 1 for people, 2 for settled labels
-- rater: whose newest rating counts; NULL where nobody is named, and for votes
-- scale_low: lowest value of numbers; NULL if not recorded
-- scale_high: highest value of numbers
-- value: the rating as a number; NULL for labels and votes
-- label: the label, or the number as text; NULL on a scale 4 wide or more
-- is_wide: whether the scale is so wide that numbers are compared as whole ones
-- is_current: whether it is the rater's newest rating of this item
SELECT
    coalesce(result_suite, suite) AS suite,
    'rating' AS kind,
    criterion,
    concat_ws(' turn ', answer, turn) AS item,
    concat_ws('/', task_set, task_id) AS unit,
    rater_name(rater, rater_kind, rater_config) AS side,
    CASE rater_kind WHEN 'human' THEN 1 WHEN 'gold' THEN 2 ELSE 0 END AS side_rank,
    CASE WHEN coalesce(rater, CAST(slot AS VARCHAR)) IS NOT NULL THEN concat_ws(' ', suite, rater, slot) END
        AS rater,
    rater_config,
    rated_at,
    scale_low,
    scale_high,
    value,
    CASE
        WHEN label IS NOT NULL THEN label
        WHEN NOT coalesce(scale_high - scale_low >= 4, false) THEN CAST(value AS VARCHAR)
    END AS label,
    scale_high - scale_low >= 4 AS is_wide,
    is_current
FROM ratings
WHERE status = 'ok'
UNION ALL
SELECT
    answers_suite AS suite,
    'preference' AS kind,
    criterion,
    concat_ws(' turn ', pair, turn) AS item,
    concat_ws('/', task_set, task_id) AS unit,
    rater_name(rater, rater_kind, rater_config) AS side,
    CASE rater_kind WHEN 'human' THEN 1 WHEN 'gold' THEN 2 ELSE 0 END AS side_rank,
    NULL AS rater,
    rater_config,
    rated_at,
    NULL AS scale_low,
    NULL AS scale_high,
    NULL AS value,
    CASE WHEN share_b < 0.5 THEN 'a' WHEN share_b > 0.5 THEN 'b' ELSE 'tie' END AS label,
    NULL AS is_wide,
    true AS is_current
FROM preference_verdicts
WHERE share_b IS NOT NULL
