-- The sum of amounts, identical to the last bit in any order of the rows. Whole parts are added as
-- whole numbers, fractions as decimals with 15 places: a sum of doubles would vary from run to run,
-- and 307351 cast to a decimal with 15 places is slightly too large. The sum is cast to a double by
-- way of text: the direct cast of a decimal can be off by one bit. Values of the size of 10^15 and
-- above, which do not fit, are added in ascending order. Values that are not finite are left out: one of
-- them must not make every figure fail.
CREATE OR REPLACE MACRO exact_sum(amount) AS
    list_sum([
        exact_small_sum(amount),
        ordered_sum(list_sort(list(CAST(amount AS DOUBLE)) FILTER (
            try_cast(floor(amount) AS DECIMAL(15, 0)) IS NULL AND isfinite(CAST(amount AS DOUBLE))
        )))
    ])
