-- The smallest latency of a band of latency_band, in whole milliseconds: (band / 4)⁴, rounded up.
CREATE OR REPLACE MACRO latency_band_start(band) AS
    CASE
        WHEN band = 0 THEN CAST('-infinity' AS DOUBLE)
        ELSE CAST((CAST(band AS BIGINT) * band * band * band + 255) // 256 AS DOUBLE)
    END
