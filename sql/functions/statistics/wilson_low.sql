-- Lower end of Wilson's 95 % score interval for `passed` of `judged` (Wilson 1927, JASA 22, 209);
-- NULL if `judged` is 0, or either is NULL. The default quantile is the 97.5 % one of the standard
-- normal distribution.
CREATE OR REPLACE MACRO wilson_low(passed, judged, quantile := 1.959963984540054) AS
    CASE
        -- least() and greatest() pass over NULL.
        WHEN judged = 0 OR passed IS NULL OR judged IS NULL THEN NULL
        WHEN passed = 0 THEN 0.0::DOUBLE
        ELSE greatest(0.0, (
            passed + quantile ** 2 / 2
            - quantile * sqrt(
                passed * (judged - passed) / judged::DOUBLE + quantile ** 2 / 4
            )
        ) / (judged + quantile ** 2))
    END
