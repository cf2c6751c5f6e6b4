-- The mean of amounts, identical to the last bit in any order of the rows; see exact_sum.
CREATE OR REPLACE MACRO exact_mean(amount) AS
    exact_sum(amount) / nullif(count(CASE WHEN isfinite(CAST(amount AS DOUBLE)) THEN 1 END), 0)
