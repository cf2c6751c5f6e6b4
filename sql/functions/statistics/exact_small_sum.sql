-- The sum of amounts that are surely below 10^15, such as rates, ranks and logarithms, as by exact_sum, which
-- takes longer to plan and to compute. Values that are larger or not finite are left out.
CREATE OR REPLACE MACRO exact_small_sum(amount) AS
    exact_total(
        sum(try_cast(floor(amount) AS DECIMAL(15, 0))),
        sum(CAST(amount - try_cast(floor(amount) AS DECIMAL(15, 0)) AS DECIMAL(16, 15)))
    )
