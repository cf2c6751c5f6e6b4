-- The mean of amounts, identical to the last bit in any order of the rows; see exact_sum.
CREATE OR REPLACE MACRO exact_mean(amount) AS
    CAST(CAST(
        CAST(sum(try_cast(floor(amount) AS DECIMAL(15, 0))) AS DECIMAL(38, 15))
        + sum(CAST(amount - try_cast(floor(amount) AS DECIMAL(15, 0)) AS DECIMAL(16, 15)))
    AS VARCHAR) AS DOUBLE)
    / nullif(count(try_cast(floor(amount) AS DECIMAL(15, 0))), 0)
