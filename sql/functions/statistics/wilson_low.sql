-- Lower end of Wilson's 95 % score interval for `passed` of `judged` (Wilson 1927, JASA 22, 209);
-- NULL if `judged` is 0. The constant is the 97.5 % quantile of the standard normal distribution.
CREATE OR REPLACE MACRO wilson_low(passed, judged) AS
    CASE
        WHEN judged = 0 THEN NULL
        WHEN passed = 0 THEN 0.0::DOUBLE
        ELSE greatest(0.0, (
            passed + 1.959963984540054 ** 2 / 2
            - 1.959963984540054 * sqrt(
                passed * (judged - passed) / judged::DOUBLE + 1.959963984540054 ** 2 / 4
            )
        ) / (judged + 1.959963984540054 ** 2))
    END
