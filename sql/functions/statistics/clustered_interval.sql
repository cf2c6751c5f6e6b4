-- The 95 % interval of a mean of shares, a list of its two ends, where tasks depend on each other within
-- clusters; NULL below 6 clusters. `sums` are the sums over the tasks of each cluster, `sizes` the
-- numbers of its tasks. It is Wilson's, centred at the mean, for as many trials as the variance of the
-- clusters is worth: N = m(1 - m) / Var(m) after adding two clusters of mean size, one that passes all and
-- one that passes none, times C / (C + 2) as in effective_tasks, and at most the number of tasks. In
-- place of the normal quantile it has Student's with one degree of freedom less than the effective number
-- of clusters, (Σ size)² / Σ size²: a cluster that has half of the tasks decides alone; `quantile` is one of
-- another level. Values that no trials are behind, such as ratings, have infinite `trials`, in place of the
-- number of tasks. `docs/scores.md` has its coverage.
CREATE OR REPLACE MACRO clustered_interval(sums, sizes, quantile := NULL, trials := NULL) AS
    list_transform(
        [{
            n: list_sum(sizes)::DOUBLE,
            c: len(sizes)::DOUBLE,
            total: list_aggregate(sums, 'fsum'),
            df: cluster_df(sizes)
        }],
        lambda t: list_transform(
            [{
                mean: t['total'] / t['n'],
                padded: (t['total'] + t['n'] / t['c']) / (t['n'] + 2 * t['n'] / t['c']),
                quantile: coalesce(quantile, student_quantile(t['df']))
            }],
            lambda s: list_transform(
                [least(
                    coalesce(trials, t['n']),
                    t['n'] ** 2 * (t['c'] + 2) / t['c'] * s['padded'] * (1 - s['padded']) / (
                        list_aggregate(list_transform(
                            sums, lambda sum, i: (sum - s['padded'] * sizes[i]) ** 2
                        ), 'fsum')
                        + (t['n'] / t['c']) ** 2 * (s['padded'] ** 2 + (1 - s['padded']) ** 2)
                    )
                )],
                lambda effective: CASE WHEN t['c'] >= 6 THEN [
                    wilson_low(s['mean'] * effective, effective, quantile := s['quantile']),
                    wilson_high(s['mean'] * effective, effective, quantile := s['quantile'])
                ] END
            )[1]
        )[1]
    )[1]
