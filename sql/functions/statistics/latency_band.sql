-- The band of a latency in milliseconds: four times its fourth root, rounded down, from 0 to 712, the
-- last of which has no end. Square roots of whole numbers of this size are exact enough on any machine
-- that a band begins where latency_band_start says.
CREATE OR REPLACE MACRO latency_band(latency_ms) AS
    CASE
        WHEN latency_ms < 1 THEN 0
        WHEN latency_ms < latency_band_start(712)
            THEN CAST(floor(4 * sqrt(sqrt(floor(latency_ms)))) AS SMALLINT)
        ELSE 712
    END
