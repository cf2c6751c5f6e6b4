-- The percentile of a sorted list's numbers, interpolated as the original program does it, to the
-- last bit; NULL for none. share: 0 to 1.
-- percentile_cont differs in the last bit now and then, which shows where a half is rounded.
CREATE OR REPLACE MACRO linear_percentile(ordered, share) AS
    -- The list of one rank gives the rank a name, as it is needed thrice.
    list_transform(
        [(len(ordered) - 1) * CAST(share AS DOUBLE)],
        lambda rank:
            CAST(ordered[CAST(floor(rank) AS BIGINT) + 1] AS DOUBLE) * (floor(rank) + 1 - rank)
            + coalesce(CAST(ordered[CAST(floor(rank) AS BIGINT) + 2] AS DOUBLE), 0)
            * (rank - floor(rank))
    )[1]
