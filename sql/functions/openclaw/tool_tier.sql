-- The tier (1, 2 or 3) of a tool-use rate from 0 to 1. The rate is not rounded: 0.7999 is tier 2.
CREATE OR REPLACE MACRO tool_tier(rate) AS
    CASE
        WHEN rate IS NULL THEN NULL
        WHEN rate >= 0.8 THEN 1
        WHEN rate >= 0.5 THEN 2
        ELSE 3
    END
