-- Probability of a chi-square of `df` degrees of freedom above `value`, within 0.002 (Wilson and Hilferty 1931).
CREATE OR REPLACE MACRO chi_square_p(value, df) AS
    list_transform(
        [((value / df) ** (1 / 3) - 1 + 2 / (9 * df)) / sqrt(2 / (9 * df))],
        lambda z: CASE WHEN z > 0 THEN normal_p(z) / 2 ELSE 1 - normal_p(z) / 2 END
    )[1]
