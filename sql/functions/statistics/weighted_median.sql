-- The median of amounts that each stand for some alike: `sizes`, in the same order. NULLs are left out. A list
-- of all of them would be far longer. `state` has how many are below, and the two values in the middle.
CREATE OR REPLACE MACRO weighted_median(amounts, sizes) AS
    list_transform(
        [{
            half: list_sum(list_transform(amounts, lambda amount, i: if(amount IS NULL, 0, sizes[i]))) / 2,
            sorted: list_sort(list_filter(
                list_transform(amounts, lambda amount, i: {amount: amount, size: sizes[i]}),
                lambda each: each.amount IS NOT NULL
            ))
        }],
        lambda t: list_transform(
            [list_reduce(
                t.sorted,
                lambda state, each: {
                    n: state.n + each.size,
                    low: if(state.n < t.half, each.amount, state.low),
                    high: if(state.n <= t.half, each.amount, state.high)
                },
                {n: 0::BIGINT, low: NULL::DOUBLE, high: NULL::DOUBLE}
            )],
            lambda state: list_median([state.low, state.high])
        )[1]
    )[1]
