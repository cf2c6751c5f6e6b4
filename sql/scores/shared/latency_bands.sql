-- How many of the latencies of each model that count in a run are in each band: a median over runs is
-- in the band that they add up to.
-- by_run
-- grain: run × provider × model × settings × band
-- inherits: results, scores.setups, scores.latencies
-- band: band of the latencies, see latency_band
-- n_latencies: answered calls of known latency in the band
SELECT
    suite,
    run_id,
    series,
    CAST(latency_band(latency_ms) AS SMALLINT) AS band,
    count(*) AS n_latencies
FROM scores.latencies
GROUP BY ALL
