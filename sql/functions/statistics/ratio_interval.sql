-- The 95 % interval, a list of its two ends, of the sum of amounts divided by the sum of counts over tasks,
-- with Student's quantile; see ratio_error. Ten digits, because sums of floating-point numbers depend on
-- their order.
CREATE OR REPLACE MACRO ratio_interval(sums) AS
    list_transform(
        [{
            ratio: sums.amount / sums.total,
            quantile: student_quantile(sums.n - 1),
            error: ratio_error(sums)
        }],
        lambda t: list_transform(
            [-1, 1],
            lambda side: CAST(
                format('{:.10g}', t['ratio'] * exp(side * t['quantile'] * t['error'])) AS DOUBLE
            )
        )
    )[1]
