-- The 97.5 % quantile of Student's t: a table up to 10 degrees of freedom, then the Cornish-Fisher
-- expansion (Abramowitz and Stegun 1964, 26.7.5), which is within 0.00001 from there on.
CREATE OR REPLACE MACRO student_quantile(df) AS
    CASE
        WHEN df < 1 THEN NULL
        WHEN df <= 10 THEN [
            12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836,
            2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852
        ][CAST(df AS BIGINT)]::DOUBLE
        ELSE list_transform(
            [1.959963984540054::DOUBLE],
            lambda z: z
                + (z ** 3 + z) / 4 / df
                + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96 / df ** 2
                + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384 / df ** 3
                + (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z)
                    / 92160 / df ** 4
        )[1]
    END
