-- The mean of amounts, the same to the last bit in whatever order the rows come.
CREATE OR REPLACE MACRO exact_mean(amount) AS
    CAST(sum(try_cast(amount AS DECIMAL(38, 15))) AS DOUBLE) / nullif(count(amount), 0)
