-- The 97.5 % quantile of Student's t, within 1e-12: a table up to 10 degrees of freedom, then a
-- polynomial in their reciprocal, fitted to the quantiles at 200 Chebyshev nodes. Python has those of all
-- levels from scipy: as a function of Python, views that call it would fail in other clients.
CREATE OR REPLACE MACRO student_quantile(df) AS
    CASE
        WHEN df < 1 THEN NULL
        WHEN df <= 10 THEN [
            12.706204736174705, 4.302652729749464, 3.1824463052837086, 2.7764451051977943,
            2.5705818356363155, 2.44691185114497, 2.364624251592785, 2.3060041352041662,
            2.2621571627982053, 2.2281388519862744
        ][CAST(df AS BIGINT)]::DOUBLE
        ELSE list_reduce(
            [
                -0.6463402976150008, 0.00558308687854947, 0.6313722898135097, 0.7331287748039278,
                1.589512991596508, 2.55585026168981, 2.8224986095886355, 2.372271230316276,
                1.959963984540054
            ]::DOUBLE[],
            lambda sum, coefficient: sum / df + coefficient
        )
    END
