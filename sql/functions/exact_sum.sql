-- The sum of amounts, the same to the last bit in whatever order the rows come.
-- Amounts are added as decimals with 15 places; a sum of doubles would differ from run to run.
CREATE OR REPLACE MACRO exact_sum(amount) AS
    CAST(sum(try_cast(amount AS DECIMAL(38, 15))) AS DOUBLE)
