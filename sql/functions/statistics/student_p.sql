-- Two-sided p-value of Student's t for a whole number of degrees of freedom, by its finite sums
-- (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4); NULL if t is NULL.
CREATE OR REPLACE MACRO student_p(t, df) AS
    list_transform(
        [atan(abs(t) / sqrt(df))],
        -- greatest() passes over NULL, so that an unknown angle needs a case of its own.
        lambda angle: CASE WHEN angle IS NOT NULL THEN greatest(0.0, CASE
            WHEN df % 2 = 1 THEN 1 - 2 / pi() * (angle + sin(angle) * coalesce(list_sum(
                list_transform(
                    range(CAST(df // 2 AS BIGINT)),
                    lambda k: exp(2 * k * ln(2) + 2 * lgamma(k + 1) - lgamma(2 * k + 2))
                        * cos(angle) ** (2 * k + 1)
                )
            ), 0))
            ELSE 1 - sin(angle) * list_sum(
                list_transform(
                    range(CAST(df // 2 AS BIGINT)),
                    lambda k: exp(lgamma(2 * k + 1) - 2 * k * ln(2) - 2 * lgamma(k + 1))
                        * cos(angle) ** (2 * k)
                )
            )
        END) END
    )[1]
