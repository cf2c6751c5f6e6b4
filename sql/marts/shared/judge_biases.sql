-- Whether judges prefer longer answers, and those of their own model family, more than others do on the same pairs.
-- grain: suite × criterion × judge × bias × other
-- inherits: scores.bias_votes
-- first: suite, criterion, judge, bias, other, share, other_share, difference, difference_low, difference_high, p_value
-- n_tasks: tasks of these pairs; each counts once
-- share: mean vote of the judge, both orders of a pair together: 1 for the answer that is longer, or of its own
--     family, 0 for the other, 0.5 for neither. Better answers may be longer: a share alone shows no bias.
-- share_low: lower end of its 95 % interval, Wilson's, by tasks
-- share_high: upper end of that interval
-- other_share: mean vote of the others on the same pairs; NULL in the row of all pairs of the judge
-- difference: share less other_share
-- difference_low: lower end of its 95 % interval, of a mean between -1 and 1; NULL below 6 tasks
-- difference_high: upper end of that interval
-- p_value: of no difference, by the same method; NULL below 6 tasks; not adjusted for the number of judges
SELECT
    suite,
    criterion,
    judge,
    bias,
    other,
    n_items,
    n_tasks,
    share,
    share_low,
    share_high,
    other_share,
    difference,
    difference_low,
    difference_high,
    p_value
FROM scores.judge_biases
ORDER BY suite, criterion, judge, bias, other NULLS FIRST
