-- The sum of amounts, identical to the last bit in any order of the rows. Whole parts are added as
-- whole numbers, fractions as decimals with 15 places: a sum of doubles would vary from run to run,
-- and 307351 cast to a decimal with 15 places is slightly too large. The sum is cast to a double by
-- way of text: the direct cast of a decimal can be off by one bit. Values that are not finite, or
-- 10^15 and above, are left out: one of them must not make every figure fail.
CREATE OR REPLACE MACRO exact_sum(amount) AS
    CAST(CAST(
        CAST(sum(try_cast(floor(amount) AS DECIMAL(15, 0))) AS DECIMAL(38, 15))
        + sum(CAST(amount - try_cast(floor(amount) AS DECIMAL(15, 0)) AS DECIMAL(16, 15)))
    AS VARCHAR) AS DOUBLE)
