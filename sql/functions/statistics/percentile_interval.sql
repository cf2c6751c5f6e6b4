-- The interval of a percentile of a sorted list of numbers, `low` and `high`: values that occur, of the
-- ranks that `percentile_ranks` has for as many tasks as are independent (`n`). NULL where the data do not
-- bound it.
CREATE OR REPLACE MACRO percentile_interval(ordered, n, ranks) AS {
    low: ordered[CAST(floor((ranks.low - 1) * (len(ordered) / nullif(n, 0)) + 1e-9) AS BIGINT) + 1],
    high: ordered[CAST(ceil(ranks.high * (len(ordered) / nullif(n, 0)) - 1e-9) AS BIGINT)]
}
