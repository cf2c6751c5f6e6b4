-- The 95 % interval, a list of its two ends, of the sum of amounts divided by the sum of counts over tasks:
-- the logarithm of the ratio is linearised over the tasks (Cochran 1977, Sampling Techniques, 6.4), with
-- Student's quantile. `sums` is {n, n_counted, amount, total, amount_squares, products, squares}: the
-- tasks, those with a count above 0, and the sums of their amounts a, counts c, of a², a·c and c². NULL
-- below 20 tasks or 10 with a count, or if all amounts are 0. Ten digits, because sums of floating-point
-- numbers depend on their order. See `warehouse.engine.statistics.ratios.ratio_limits`.
CREATE OR REPLACE MACRO ratio_interval(sums) AS
    list_transform(
        [sums],
        lambda t: CASE WHEN t.n >= 20 AND t.n_counted >= 10 AND t.amount > 0 THEN list_transform(
            [-1, 1],
            lambda side: CAST(format('{:.10g}', t.amount / t.total * exp(
                side * student_quantile(t.n - 1) * sqrt(t.n / (t.n - 1) * greatest(
                    0.0,
                    t.amount_squares / t.amount ** 2
                    - 2 * t.products / (t.amount * t.total)
                    + t.squares / t.total ** 2
                ))
            )) AS DOUBLE)
        ) END
    )[1]
