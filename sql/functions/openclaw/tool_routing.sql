-- Whether subagents may be routed to a model, in words, from its tool-use rate and its interval.
-- Only tier 1 is recommended. The interval shows whether more data could change that.
CREATE OR REPLACE MACRO tool_routing(rate, rate_low, rate_high) AS
    CASE
        WHEN rate IS NULL THEN NULL
        WHEN rate >= 0.8 AND rate_low >= 0.8 THEN 'recommended'
        WHEN rate >= 0.8 THEN 'recommended, more data needed to be sure'
        WHEN rate_high >= 0.8 THEN 'not recommended, more data could change it'
        ELSE 'not recommended'
    END
