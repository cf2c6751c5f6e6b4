-- The 95 % interval of a mean over tasks, a list of its two ends: of values from 0 to `scale` Wilson's for
-- `trials`, and where that is NULL, not known, the mean ± `margin`, and NULL where all tasks have the same
-- value, which does not say how far others are from it; where tasks depend on each other (`sizes` is not
-- NULL), that of clusters.
CREATE OR REPLACE MACRO mean_interval(scale, mean, trials, margin, sums, sizes) AS
    CASE
        WHEN sizes IS NULL AND scale IS NOT NULL THEN [
            scale * wilson_low(mean / scale * trials, trials),
            scale * wilson_high(mean / scale * trials, trials)
        ]
        WHEN sizes IS NULL THEN if(margin > 1e-12 * abs(mean), [mean - margin, mean + margin], NULL)
        WHEN scale IS NOT NULL THEN list_transform(
            clustered_interval(list_transform(sums, lambda sum: sum / scale), sizes),
            lambda share: scale * share
        )
        ELSE clustered_student_interval(sums, sizes)
    END
