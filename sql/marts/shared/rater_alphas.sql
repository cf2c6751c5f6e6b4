-- How far all who rate the same answers, or vote on the same pairs, agree beyond chance: Krippendorff's alpha.
-- grain: suite × kind × criterion × raters × level
-- first: suite, criterion, raters, level, alpha, alpha_low, alpha_high, n_items, n_ratings
-- suite: suite of the answers
-- kind: rating or preference; votes in two orders are one
-- criterion: what was rated
-- raters: people, or all: people and judges, each configuration one of them; settled labels are left out
-- level: nominal: labels differ or not; of numbers also ordinal and interval. Of two labels the three are the
--     same, and only nominal is there.
-- n_items: answers or pairs with two ratings or more; others say nothing of agreement
-- n_ratings: their ratings
-- alpha: 0 as by chance, 1 always; NULL where only one label occurs. Criteria with numbers of several scales, or
--     with numbers and labels, have no row.
-- alpha_low: lower end of its 95 % interval, of resampled tasks; NULL below 6 tasks, and for more than 101 labels
-- alpha_high: upper end of that interval
SELECT
    suite,
    kind,
    criterion,
    raters,
    level,
    n_items,
    n_ratings,
    alpha,
    alpha_low,
    alpha_high
FROM scores.rater_alphas
ORDER BY suite, kind, criterion, raters DESC, level DESC
