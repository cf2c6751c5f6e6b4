-- How far each judge agrees with people, with settled labels (gold) and with other judges, on the answers
-- that both rated and the pairs that both voted on. Of several people it is the label of most of them; people
-- stand in for a judge against gold.
-- grain: suite × kind × criterion × judge × other
-- first: suite, criterion, judge, other, n_items, kappa, kappa_low, kappa_high, agreement_rate
-- suite: suite of the answers
-- kind: rating or preference; votes in two orders are one label: the answer that they favour together, else a
--     tie
-- criterion: what was rated
-- judge: the rater that is looked at; "with reference" where it was shown a reference answer
-- other: what it is compared with: people, gold or another judge
-- other_kind: people, gold or judge
-- n_items: answers or pairs with a label of both; those without, such as replies that could not be read, are
--     left out
-- n_tasks: tasks of these items
-- newest_label_at: when the newest of the other's labels was given, UTC; NULL if not recorded
-- mean_difference: mean of the judge's number less the other's; NULL for labels and votes
-- agreement_rate: share of the items with the same label; numbers of a scale 4 wide or more are rounded to
--     whole ones first, here and below
-- agreement_rate_low: lower end of its 95 % interval, Wilson's, by tasks where they have several items
-- agreement_rate_high: upper end of that interval
-- kappa: Cohen's kappa: agreement beyond chance; NULL where a rater gave all items the same label, and for
--     more than 101 labels
-- kappa_low: lower end of its 95 % interval, of resampled tasks; NULL below 6 tasks, and between judges
-- kappa_high: upper end of that interval
-- linear_kappa: kappa with weights of the distance between numbers; NULL for labels and votes
-- quadratic_kappa: kappa with weights of the distance squared, likewise
-- quadratic_kappa_low: lower end of its 95 % interval
-- quadratic_kappa_high: upper end of that interval
-- sensitivity: of the items that the other passed (1 of 0 and 1), the share that the judge passed; NULL for other
--     scales, and between judges
-- sensitivity_low: lower end of its 95 % interval, as of agreement_rate
-- sensitivity_high: upper end of that interval
-- specificity: of the items that the other did not pass, the share that the judge did not pass
-- specificity_low: lower end of its 95 % interval, as of agreement_rate
-- specificity_high: upper end of that interval
SELECT
    suite,
    kind,
    criterion,
    judge,
    other,
    other_kind,
    n_items,
    n_tasks,
    newest_label_at,
    agreement_rate,
    agreement_rate_low,
    agreement_rate_high,
    kappa,
    kappa_low,
    kappa_high,
    linear_kappa,
    quadratic_kappa,
    quadratic_kappa_low,
    quadratic_kappa_high,
    mean_difference,
    sensitivity,
    sensitivity_low,
    sensitivity_high,
    specificity,
    specificity_low,
    specificity_high
FROM scores.judge_agreement
ORDER BY suite, kind, criterion, judge, other
