-- The 95 % interval of the difference of two paired proportions, a list of its two ends: Newcombe's
-- hybrid of Wilson's intervals with a continuity-corrected phi (Newcombe 1998, Statistics in Medicine
-- 17, 2635, method 10). The arguments count the tasks that both passed, only one of them, or neither;
-- NULL if there are none. `quantile` is that of wilson_low.
CREATE OR REPLACE MACRO newcombe_interval(
    n_both, n_only_a, n_only_b, n_neither, quantile := 1.959963984540054
) AS
    list_transform(
        [{
            n: (n_both + n_only_a + n_only_b + n_neither)::DOUBLE,
            a: (n_both + n_only_a)::DOUBLE,
            b: (n_both + n_only_b)::DOUBLE,
            excess: n_both::DOUBLE * n_neither - n_only_a::DOUBLE * n_only_b
        }],
        lambda t: list_transform(
            [{
                phi: coalesce(
                    if(t['excess'] > 0, greatest(t['excess'] - t['n'] / 2, 0), t['excess'])
                    / nullif(sqrt(t['a'] * (t['n'] - t['a']) * t['b'] * (t['n'] - t['b'])), 0),
                    0
                ),
                difference: (t['a'] - t['b']) / nullif(t['n'], 0),
                below_a: t['a'] / nullif(t['n'], 0) - wilson_low(t['a'], t['n'], quantile := quantile),
                above_a: wilson_high(t['a'], t['n'], quantile := quantile) - t['a'] / nullif(t['n'], 0),
                below_b: t['b'] / nullif(t['n'], 0) - wilson_low(t['b'], t['n'], quantile := quantile),
                above_b: wilson_high(t['b'], t['n'], quantile := quantile) - t['b'] / nullif(t['n'], 0)
            }],
            lambda s: CASE WHEN s['difference'] IS NOT NULL THEN [
                s['difference'] - sqrt(
                    s['below_a'] ** 2 - 2 * s['phi'] * s['below_a'] * s['above_b'] + s['above_b'] ** 2
                ),
                s['difference'] + sqrt(
                    s['above_a'] ** 2 - 2 * s['phi'] * s['above_a'] * s['below_b'] + s['below_b'] ** 2
                )
            ] END
        )[1]
    )[1]
