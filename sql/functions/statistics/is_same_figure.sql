-- Whether two figures agree: within 1e-9, absolute up to 1, relative to the first above; infinity and
-- NaN each only with itself.
CREATE OR REPLACE MACRO is_same_figure(reported, recomputed) AS
    -- In SQL NaN equals NaN.
    reported = recomputed
    OR isfinite(reported) AND isfinite(recomputed)
        AND abs(reported - recomputed) <= 1e-9 * greatest(1, abs(reported))
