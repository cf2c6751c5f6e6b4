-- Two-sided p-value of the standard normal distribution: the series of Abramowitz and Stegun 1964,
-- 26.2.11, below 3, else Laplace's continued fraction, 26.2.14; NULL if z is NULL.
CREATE OR REPLACE MACRO normal_p(z) AS
    CASE
        WHEN abs(z) < 3 THEN 1 - sqrt(2 / pi()) * exp(-(z ** 2) / 2) * list_reduce(
            list_transform(range(60, 0, -1), lambda k: CAST(k AS DOUBLE)),
            lambda total, k: 1 + total * z ** 2 / (2 * k + 1),
            1.0::DOUBLE
        ) * abs(z)
        WHEN z IS NOT NULL THEN sqrt(2 / pi()) * exp(-(z ** 2) / 2) / list_reduce(
            list_transform(range(60, 0, -1), lambda k: CAST(k AS DOUBLE)),
            lambda total, k: abs(z) + k / total,
            abs(z)::DOUBLE
        )
    END
