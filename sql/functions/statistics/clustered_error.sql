-- The standard error of a mean where values depend on each other within clusters; NULL below 2 clusters.
-- `sums` are the sums over the values of each cluster, `sizes` their numbers. Where each cluster has one
-- value, it is the standard deviation (ddof 1) / sqrt(n).
CREATE OR REPLACE MACRO clustered_error(sums, sizes) AS
    list_transform(
        [{
            n: list_sum(sizes)::DOUBLE,
            c: len(sizes)::DOUBLE,
            mean: list_aggregate(sums, 'fsum') / list_sum(sizes)
        }],
        lambda t: CASE WHEN t['c'] >= 2 THEN sqrt(t['c'] / (t['c'] - 1) * list_aggregate(list_transform(
            sums, lambda sum, i: (sum - t['mean'] * sizes[i]) ** 2
        ), 'fsum')) / t['n'] END
    )[1]
