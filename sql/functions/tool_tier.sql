-- The tier (1, 2 or 3) of a tool-use success rate between 0 and 1; not rounded, so 0.7999 is 2.
CREATE OR REPLACE MACRO tool_tier(rate) AS
    CASE
        WHEN rate IS NULL THEN NULL
        WHEN rate >= 0.8 THEN 1
        WHEN rate >= 0.5 THEN 2
        ELSE 3
    END
