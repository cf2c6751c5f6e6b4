-- The 95 % interval of a mean, a list of its two ends, where tasks depend on each other within clusters:
-- Student's, by the variance of the clusters' sums around the mean; NULL below 6 clusters, and where all
-- have the same mean, which does not say how far others are from it. The arguments and the degrees of
-- freedom are those of clustered_interval.
CREATE OR REPLACE MACRO clustered_student_interval(sums, sizes) AS
    list_transform(
        [{
            n: list_sum(sizes)::DOUBLE,
            c: len(sizes)::DOUBLE,
            mean: list_aggregate(sums, 'fsum') / list_sum(sizes),
            quantile: student_quantile(cluster_df(sizes))
        }],
        lambda t: list_transform(
            [t['quantile'] / t['n'] * sqrt(t['c'] / (t['c'] - 1) * list_aggregate(list_transform(
                sums, lambda sum, i: (sum - t['mean'] * sizes[i]) ** 2
            ), 'fsum'))],
            lambda margin: CASE
                WHEN t['c'] >= 6 AND margin > 1e-12 * abs(t['mean']) THEN [t['mean'] - margin, t['mean'] + margin]
            END
        )[1]
    )[1]
