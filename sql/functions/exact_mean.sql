-- The mean of amounts, the same to the last bit in whatever order the rows come; see exact_sum.
CREATE OR REPLACE MACRO exact_mean(amount) AS
    CAST(sum(try_cast(amount AS DECIMAL(30, 15))) AS DOUBLE)
    / nullif(count(try_cast(amount AS DECIMAL(30, 15))), 0)
