-- How a reported figure relates to the one computed from the store: not recomputable where a reason
-- is known; samples missing where it is about more tasks than the store has; equal, numbers within
-- 1e-9 (absolute up to 1, relative to the reported figure above), texts exactly; else differs.
CREATE OR REPLACE MACRO figure_status(
    reason, n_reported, n_stored, reported_text, recomputed_text, reported, recomputed
) AS
    CASE
        WHEN reason IS NOT NULL THEN 'not recomputable'
        WHEN coalesce(n_reported, 1) > n_stored THEN 'samples missing'
        WHEN reported_text IS NOT DISTINCT FROM recomputed_text THEN 'equal'
        WHEN is_same_figure(reported, recomputed) THEN 'equal'
        ELSE 'differs'
    END
