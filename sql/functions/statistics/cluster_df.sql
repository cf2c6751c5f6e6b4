-- Degrees of freedom of a variance between clusters of so many tasks each: the effective number of clusters
-- (Σ size)² / Σ size², which is their number where all are equally large, less 1; at least 1.
CREATE OR REPLACE MACRO cluster_df(sizes) AS
    greatest(1, CAST(floor(
        list_sum(sizes)::DOUBLE ** 2
        / list_sum(list_transform(sizes, lambda size: size::DOUBLE ** 2)) + 1e-9
    ) AS BIGINT) - 1)
