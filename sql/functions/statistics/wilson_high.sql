-- Upper end of Wilson's 95 % score interval for `passed` of `judged`; see wilson_low.
CREATE OR REPLACE MACRO wilson_high(passed, judged, quantile := 1.959963984540054) AS
    CASE
        -- least() and greatest() pass over NULL.
        WHEN judged = 0 OR passed IS NULL OR judged IS NULL THEN NULL
        WHEN passed = judged THEN 1.0::DOUBLE
        ELSE least(1.0, (
            passed + quantile ** 2 / 2
            + quantile * sqrt(
                passed * (judged - passed) / judged::DOUBLE + quantile ** 2 / 4
            )
        ) / (judged + quantile ** 2))
    END
