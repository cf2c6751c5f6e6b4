-- The median of amounts that each stand for some alike: `sizes`, in the same order. NULLs are left out. A list
-- of all of them would be far longer. It is between the first amounts that reach and that pass half of the sizes.
CREATE OR REPLACE MACRO weighted_median(amounts, sizes) AS
    CASE
        WHEN list_max(sizes) = 1 THEN list_median(amounts)
        ELSE list_transform(
            [list_sum(list_transform(amounts, lambda amount, i: if(amount IS NULL, 0, sizes[i])))],
            lambda total: list_transform(
                [list_min(list_filter(list_distinct(amounts), lambda amount: total <= 2 * list_sum(
                    list_transform(amounts, lambda other, i: if(other <= amount, sizes[i], 0))
                )))],
                lambda lower: if(
                    total = 2 * list_sum(
                        list_transform(amounts, lambda other, i: if(other <= lower, sizes[i], 0))
                    ),
                    list_median([lower, list_min(list_filter(amounts, lambda amount: amount > lower))]),
                    lower
                )
            )[1]
        )[1]
    END
