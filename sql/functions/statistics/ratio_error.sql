-- The standard error of the logarithm of the sum of amounts divided by the sum of counts over tasks: it is
-- linearised over the tasks (Cochran 1977, Sampling Techniques, 6.4). `sums` is {n, n_counted, amount,
-- total, amount_squares, products, squares}: the tasks, those with a count above 0, and the sums of their
-- amounts a, counts c, of a², a·c and c². NULL below 20 tasks or 10 with a count, or if all amounts are 0.
-- Of tasks that all have the same ratio it is 0: what their sums then differ by is rounding.
CREATE OR REPLACE MACRO ratio_error(sums) AS
    list_transform(
        list_transform(
            [sums],
            lambda t: {
                n: t['n'],
                is_known: t['n'] >= 20 AND t['n_counted'] >= 10 AND t['amount'] > 0,
                squares: t['amount_squares'] / t['amount'] ** 2 + t['squares'] / t['total'] ** 2,
                products: 2 * t['products'] / (t['amount'] * t['total'])
            }
        ),
        lambda t: CASE
            WHEN NOT t['is_known'] THEN NULL
            WHEN t['squares'] - t['products'] < 1e-12 * t['squares'] THEN 0.0
            ELSE sqrt(t['n'] / (t['n'] - 1) * (t['squares'] - t['products']))
        END
    )[1]
