-- The sum of amounts as a double, of the sums of their whole parts and fractions; see exact_sum.
CREATE OR REPLACE MACRO exact_total(whole_parts, fractions) AS
    CAST(CAST(CAST(whole_parts AS DECIMAL(38, 15)) + fractions AS VARCHAR) AS DOUBLE)
