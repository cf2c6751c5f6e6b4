-- The percentile of a sorted list of numbers, interpolated exactly as the original program does;
-- NULL for an empty list. `share` is 0 to 1. percentile_cont sometimes differs in the last bit,
-- which shows where a half is rounded.
CREATE OR REPLACE MACRO linear_percentile(ordered, share) AS
    -- A list of one rank binds it to a name, because it is used several times.
    list_transform(
        [(len(ordered) - 1) * CAST(share AS DOUBLE)],
        lambda rank:
            CAST(ordered[CAST(floor(rank) AS BIGINT) + 1] AS DOUBLE) * (floor(rank) + 1 - rank)
            + coalesce(CAST(ordered[CAST(floor(rank) AS BIGINT) + 2] AS DOUBLE), 0)
            * (rank - floor(rank))
    )[1]
