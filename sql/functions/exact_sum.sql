-- The sum of amounts, the same to the last bit in whatever order the rows come.
-- Amounts are added as decimals with 15 places; a sum of doubles would differ from run to run.
-- What is no amount (not finite, or 10^15 and more) is left out: one such value must not make
-- every figure fail.
CREATE OR REPLACE MACRO exact_sum(amount) AS
    CAST(sum(try_cast(amount AS DECIMAL(30, 15))) AS DOUBLE)
