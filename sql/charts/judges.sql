-- Kappa of each judge, and of people, with people and with gold: with quadratic weights where both gave
-- numbers. Best first; left out are kappas of too few tasks for an interval, and one rater alone.
-- grain: suite × kind × criterion × other × judge
-- task_set: the criterion, and whether it is of pairs
-- model: the judge
SELECT
    suite,
    criterion || if(kind = 'preference', ', pairs', '') AS task_set,
    if(linear_kappa IS NULL, '', 'quadratic ') || 'kappa, ' || other AS metric,
    NULL AS provider,
    judge AS model,
    NULL AS settings,
    n_items,
    n_tasks,
    NULL AS remark,
    true AS is_comparable,
    false AS is_rate,
    if(linear_kappa IS NULL, kappa, quadratic_kappa) AS value,
    if(linear_kappa IS NULL, kappa_low, quadratic_kappa_low) AS value_low,
    if(linear_kappa IS NULL, kappa_high, quadratic_kappa_high) AS value_high
FROM judge_agreement
WHERE other_kind <> 'judge' AND value_low IS NOT NULL AND ($suite IS NULL OR suite = $suite)
QUALIFY count(*) OVER (PARTITION BY suite, kind, criterion, other, linear_kappa IS NULL) > 1
ORDER BY suite, kind, criterion, other, metric, value DESC NULLS LAST, judge
