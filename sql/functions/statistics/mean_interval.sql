-- The 95 % interval of a mean over tasks, a list of its two ends: of shares Wilson's for `trials`, else the
-- mean ± `margin`, and NULL where all tasks have the same value, which does not say how far others are from
-- it; where tasks depend on each other (`sizes` is not NULL), that of clusters.
CREATE OR REPLACE MACRO mean_interval(is_share, mean, trials, margin, sums, sizes) AS
    CASE
        WHEN sizes IS NULL AND is_share
            THEN [wilson_low(mean * trials, trials), wilson_high(mean * trials, trials)]
        WHEN sizes IS NULL THEN if(margin > 1e-12 * abs(mean), [mean - margin, mean + margin], NULL)
        WHEN is_share THEN clustered_interval(sums, sizes)
        ELSE clustered_student_interval(sums, sizes)
    END
