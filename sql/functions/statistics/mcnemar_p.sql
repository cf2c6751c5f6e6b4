-- Two-sided p-value of McNemar's exact test for two models on the same tasks. `only_a` and `only_b`
-- count the tasks that only one of them passed. Under the null hypothesis each is a fair coin toss
-- (McNemar 1947, Psychometrika 12, 153): twice the smaller tail, at most 1. Up to 40 such tasks the
-- binomial coefficients are whole numbers and the value is exact.
CREATE OR REPLACE MACRO mcnemar_p(only_a, only_b) AS
    CASE
        -- least() passes over NULL.
        WHEN only_a IS NULL OR only_b IS NULL THEN NULL
        WHEN only_a + only_b = 0 THEN 1.0::DOUBLE
        WHEN only_a + only_b <= 40 THEN least(1.0, 2 * list_sum(list_transform(
            range(CAST(least(only_a, only_b) AS BIGINT) + 1),
            lambda k: round(exp(
                lgamma(only_a + only_b + 1) - lgamma(k + 1) - lgamma(only_a + only_b - k + 1)
            ))
        )) / 2 ** (only_a + only_b))
        ELSE least(1.0, 2 * list_sum(list_transform(
            range(CAST(least(only_a, only_b) AS BIGINT) + 1),
            lambda k: exp(
                lgamma(only_a + only_b + 1) - lgamma(k + 1) - lgamma(only_a + only_b - k + 1)
                - (only_a + only_b) * ln(2)
            )
        )))
    END
