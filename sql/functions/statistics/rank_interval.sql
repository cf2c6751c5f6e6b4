-- The 95 % interval, a list of its two ends, of a rank correlation over n models, by Fisher's z: Kendall's tau-b
-- with Fieller's error (1957, Biometrika 44, 470) and Student's quantile, Spearman's with the error of Bonett
-- and Wright (2000, Psychometrika 65, 23). One of 1 is taken for one with half an exchange of neighbours, as its
-- z is infinite. NULL below 5 models; docs/noise.md has the coverage.
CREATE OR REPLACE MACRO rank_interval(coefficient, n, is_tau) AS
    CASE WHEN n >= 5 AND coefficient IS NOT NULL THEN list_transform(
        [if(is_tau, 1 - 2 / (n * (n - 1)), 1 - 6 / (n * (n ** 2 - 1)))],
        lambda cap: list_transform(
            [-1.0::DOUBLE, 1.0::DOUBLE],
            lambda side: CASE
                WHEN side * coefficient >= cap THEN side
                WHEN is_tau THEN tanh(
                    atanh(greatest(-cap, least(cap, coefficient)))
                    + side * student_quantile(n - 2) * sqrt(0.437 / (n - 4))
                )
                ELSE tanh(
                    atanh(greatest(-cap, least(cap, coefficient)))
                    + side * 1.959963984540054
                    * sqrt((1 + least(cap, abs(coefficient)) ** 2 / 2) / (n - 3))
                )
            END
        )
    )[1] END
