-- The ranks, from 1, of the ends of a percentile's 95 % interval among `n` independent values, `low` and
-- `high`: how many of them are at or below the percentile is binomial. NULL where even the smallest or
-- largest value is not far enough away. `share` is 0 to 1. Counts beyond 10 standard deviations are left
-- out. `tail` is the probability that an end is on the wrong side of the percentile, at most: 0.05 for an
-- end that is used alone with 95 % confidence.
CREATE OR REPLACE MACRO percentile_ranks(n, share, tail := 0.025) AS (
    SELECT {low: max(k) FILTER (at_most <= tail) + 1, high: min(k) FILTER (at_least <= tail)}
    FROM (
        SELECT
            k,
            sum(chance) OVER (ORDER BY k) AS at_most,
            sum(chance) OVER (ORDER BY k DESC) AS at_least
        FROM (
            SELECT
                k,
                exp(
                    lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
                    + k * ln(share) + (n - k) * ln(1 - share)
                ) AS chance
            FROM (
                SELECT unnest(range(
                    CAST(greatest(0, floor(n * share - 10 * sqrt(n * share * (1 - share)) - 10)) AS BIGINT),
                    CAST(least(n, ceil(n * share + 10 * sqrt(n * share * (1 - share)) + 10)) AS BIGINT) + 1
                )) AS k
            )
        )
    )
)
