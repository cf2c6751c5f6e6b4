-- What each judge, people together, and settled labels say of each item: an answer that was rated, or a pair of
-- answers that was voted on. Of several people it is the label of most of them, and the mean of their
-- numbers. Of two orders that disagree it is the answer that they favour together, if any, else a tie.
-- grain: suite × kind × criterion × item × rater
-- inherits: ratings, preference_verdicts
-- suite: suite of the rated results; that of the ratings where the store has no results
-- kind: rating or preference
-- criterion: what was asked for
-- item: the answer, or the pair of answers, and the turn
-- unit: the task: items of one task depend on each other
-- side: name of the rater; see rater_name
-- side_rank: 0 for a judge, 1 for people, 2 for settled labels
-- scale: lowest and highest value of numbers; NULL if not recorded, or of several scales
-- value: the rating as a number; NULL for labels and votes
-- label: the label, or the number as text, of most; on a scale 4 wide or more the mean, to the next whole
--     number; NULL where people are divided
-- n_raters: ratings, or verdicts, behind it
-- rated_at: when the newest of the ratings was given, UTC; NULL if not recorded, and for votes
WITH said AS (
    SELECT
        coalesce(result_suite, suite) AS suite,
        'rating' AS kind,
        criterion,
        concat_ws(' turn ', answer, turn) AS item,
        concat_ws('/', task_set, task_id) AS unit,
        rater_name(rater, rater_kind, rater_config) AS side,
        rater_kind,
        CASE WHEN scale_low IS NOT NULL THEN [scale_low, scale_high] END AS scale,
        value,
        CASE
            WHEN label IS NOT NULL THEN label
            WHEN NOT coalesce(scale_high - scale_low >= 4, false) THEN CAST(value AS VARCHAR)
        END AS label,
        scale_high - scale_low >= 4 AS is_wide,
        rated_at
    FROM ratings
    WHERE is_current AND status = 'ok'
    UNION ALL
    SELECT
        suite,
        'preference' AS kind,
        criterion,
        concat_ws(' turn ', pair, turn) AS item,
        concat_ws('/', task_set, task_id) AS unit,
        rater_name(rater, rater_kind, rater_config) AS side,
        rater_kind,
        NULL AS scale,
        NULL AS value,
        CASE WHEN share_b < 0.5 THEN 'a' WHEN share_b > 0.5 THEN 'b' ELSE 'tie' END AS label,
        NULL AS is_wide,
        NULL AS rated_at
    FROM preference_verdicts
    WHERE share_b IS NOT NULL
),

labelled AS (
    SELECT
        suite,
        kind,
        criterion,
        item,
        side,
        label,
        count(*) AS n,
        max(count(*)) OVER (PARTITION BY suite, kind, criterion, item, side) AS most,
        any_value(unit) AS unit,
        any_value(rater_kind) AS rater_kind,
        min(scale) AS scale,
        max(scale) AS largest_scale,
        bool_or(is_wide) AS is_wide,
        max(rated_at) AS rated_at,
        list(value ORDER BY value) FILTER (value IS NOT NULL) AS listed
    FROM said
    GROUP BY suite, kind, criterion, item, side, label
),

items AS (
    SELECT
        suite,
        kind,
        criterion,
        any_value(unit) AS unit,
        item,
        side,
        CASE any_value(rater_kind) WHEN 'human' THEN 1 WHEN 'gold' THEN 2 ELSE 0 END AS side_rank,
        CASE WHEN min(scale) = max(largest_scale) THEN min(scale) END AS scale,
        bool_or(is_wide) AS is_wide,
        max(rated_at) AS rated_at,
        list_aggregate(flatten(list(listed)), 'fsum') / sum(len(listed)) AS value,
        CASE WHEN count(label) FILTER (n = most) = 1 THEN any_value(label) FILTER (n = most) END
            AS label,
        sum(n) AS n_raters
    FROM labelled
    GROUP BY suite, kind, criterion, item, side
)

SELECT
    suite,
    kind,
    criterion,
    unit,
    item,
    side,
    side_rank,
    scale,
    value,
    CASE WHEN is_wide THEN CAST(round(value) AS VARCHAR) ELSE label END AS label,
    CAST(n_raters AS BIGINT) AS n_raters,
    rated_at
FROM items
