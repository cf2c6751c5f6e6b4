-- The ranks, from 1, of the ends of a percentile's 95 % interval among `n` independent values, `low` and
-- `high`: how many of them are at or below the percentile is binomial. NULL where even the smallest or
-- largest value is not far enough away. `share` is 0 to 1. Counts beyond 10 standard deviations are left
-- out. `tail` is the probability that an end is on the wrong side of the percentile, at most: 0.05 for an
-- end that is used alone with 95 % confidence.
CREATE OR REPLACE MACRO percentile_ranks(n, share, tail := 0.025) AS (
    SELECT {low: max(k) FILTER (at_most <= of_tail) + 1, high: min(k) FILTER (at_least <= of_tail)}
    FROM (
        SELECT
            k,
            of_tail,
            sum(chance) OVER (ORDER BY k) AS at_most,
            sum(chance) OVER (ORDER BY k DESC) AS at_least
        FROM (
            SELECT
                k,
                of_tail,
                exp(
                    lgamma(of_n + 1) - lgamma(k + 1) - lgamma(of_n - k + 1)
                    + k * ln(of_share) + (of_n - k) * ln(1 - of_share)
                ) AS chance
            FROM (
                SELECT
                    of_n,
                    of_share,
                    of_tail,
                    unnest(range(
                        CAST(greatest(0, floor(middle - reach)) AS BIGINT),
                        CAST(least(of_n, ceil(middle + reach)) AS BIGINT) + 1
                    )) AS k
                FROM (
                    SELECT
                        *,
                        of_n * of_share AS middle,
                        10 * sqrt(middle * (1 - of_share)) + 10 AS reach
                    -- Only here are the arguments those of the caller, whatever they are called.
                    FROM (SELECT n AS of_n, share AS of_share, tail AS of_tail)
                )
            )
        )
    )
)
