-- Upper end of Wilson's 95 % score interval for `passed` of `judged`; see wilson_low.
CREATE OR REPLACE MACRO wilson_high(passed, judged) AS
    CASE
        WHEN judged = 0 THEN NULL
        WHEN passed = judged THEN 1.0::DOUBLE
        ELSE least(1.0, (
            passed + 1.959963984540054 ** 2 / 2
            + 1.959963984540054 * sqrt(
                passed * (judged - passed) / judged::DOUBLE + 1.959963984540054 ** 2 / 4
            )
        ) / (judged + 1.959963984540054 ** 2))
    END
