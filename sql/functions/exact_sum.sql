-- The sum of amounts, the same to the last bit in whatever order the rows come.
-- Whole parts are added as whole numbers and the rest as decimals with 15 places; a sum of doubles
-- would differ from run to run, and 307351 as a decimal of 15 places is a little more than that.
-- By way of text the sum becomes the double next to it: the cast of a decimal may miss it by one.
-- What is no amount (not finite, or 10^15 and more) is left out: one such value must not make
-- every figure fail.
CREATE OR REPLACE MACRO exact_sum(amount) AS
    CAST(CAST(
        CAST(sum(try_cast(floor(amount) AS DECIMAL(15, 0))) AS DECIMAL(38, 15))
        + sum(CAST(amount - try_cast(floor(amount) AS DECIMAL(15, 0)) AS DECIMAL(16, 15)))
    AS VARCHAR) AS DOUBLE)
