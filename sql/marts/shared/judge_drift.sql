-- Whether a judge's agreement with people, or with settled labels (gold), has changed: between the earlier and the
-- later half of its labels, and between its configurations.
-- grain: suite × kind × criterion × judge × other × split × before
-- inherits: judge_agreement
-- first: suite, criterion, judge, other, split, before, after, difference, difference_low, difference_high, p_value
-- split: time, or version: two configurations of the judge, such as prompts, in the order of their first labels;
--     where no times are recorded, of their text
-- before: days of the earlier labels, or the configuration; "not recorded" where others have one
-- after: those of the later labels, or the next configuration
-- n_before: items of the earlier labels that the other has labelled, too. The halves have other items, so that
--     a difference may be theirs.
-- n_after: those of the later
-- kappa_before: Cohen's kappa of the earlier, with quadratic weights for numbers; NULL where a rater gave all
--     items the same label
-- kappa_after: that of the later
-- difference: the later kappa less the earlier; NULL where one is
-- difference_low: lower end of its 95 % interval, of resampled tasks; NULL below 6 tasks in either
-- difference_high: upper end of that interval
-- p_value: of no difference, by the same resamples, 0.001 at least; not adjusted for the number of judges
SELECT
    suite,
    kind,
    criterion,
    judge,
    other,
    other_kind,
    split,
    before,
    after,
    n_before,
    n_after,
    kappa_before,
    kappa_after,
    difference,
    difference_low,
    difference_high,
    p_value
FROM scores.judge_drift
ORDER BY suite, kind, criterion, judge, other, split, before
