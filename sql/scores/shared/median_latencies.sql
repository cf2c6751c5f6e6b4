-- The median latency of the answered calls of each model that count, over all runs.
-- The median is the mean of the latencies at two ranks. What runs have in each band says in which bands
-- both are; only the latencies in these are put in order.
-- grain: suite × provider × model × settings
-- inherits: scores.latencies, scores.setups
-- p50_ms: median latency, milliseconds
WITH bands AS (
    SELECT
        series,
        band,
        sum(sum(n_latencies)) OVER (PARTITION BY series ORDER BY band) AS n_to_here,
        n_to_here - sum(n_latencies) AS n_before,
        sum(sum(n_latencies)) OVER (PARTITION BY series) AS n
    FROM scores.latency_bands
    GROUP BY series, band
),

-- The ranks among the latencies in the bands, from 1.
middles AS (
    SELECT
        series,
        CAST((any_value(n) + 1) // 2 - min(n_before) AS BIGINT) AS first_rank,
        CAST(any_value(n) // 2 + 1 - min(n_before) AS BIGINT) AS last_rank,
        latency_band_start(min(band)) AS start_ms,
        max(band) AS last_band,
        latency_band_start(max(band) + 1) AS end_ms
    FROM bands
    WHERE n_to_here >= (n + 1) // 2 AND n_before < n // 2 + 1
    GROUP BY series
),

ordered AS (
    SELECT
        calls.series,
        any_value(middles.first_rank) AS first_rank,
        any_value(middles.last_rank) AS last_rank,
        list_sort(list(calls.latency_ms)) AS ordered_ms
    FROM scores.latencies AS calls
    JOIN middles ON calls.series = middles.series
    WHERE
        calls.latency_ms >= middles.start_ms
        AND (calls.latency_ms < middles.end_ms OR middles.last_band = 712)
    GROUP BY calls.series
)

SELECT
    series,
    list_median(ordered_ms[first_rank:last_rank]) AS p50_ms
FROM ordered
