-- The median latency of the answered calls of each model that count, over all runs.
-- The median is the mean of the latencies at two ranks. Two marks enclose both, and only the latencies
-- from one to the other are put in order: a few of each run.
-- grain: suite × provider × model × settings
-- inherits: scores.entry_calls, scores.latencies, scores.setups
-- p50_ms: median latency, milliseconds
WITH marks AS (
    SELECT
        series,
        mark_ms,
        n,
        sum(n) OVER (PARTITION BY series ORDER BY mark_ms ROWS UNBOUNDED PRECEDING) AS n_to_here,
        sum(n) OVER (PARTITION BY series) AS n_latencies,
        128 * count(*) FILTER (place = 1) OVER (PARTITION BY series) AS most_between
    FROM (
        SELECT
            series,
            unnest(marks_ms) AS mark_ms,
            generate_subscripts(marks_ms, 1) AS place,
            least(128, n_latencies - 128 * (place - 1)) AS n
        FROM scores.entry_calls
        WHERE is_counted AND NOT is_replay
    )
),

enclosing AS (
    SELECT
        series,
        (any_value(n_latencies) + 1) // 2 AS first_rank,
        any_value(n_latencies) // 2 + 1 AS last_rank,
        -- Up to the next mark, each list can have more that are smaller.
        coalesce(
            max(mark_ms) FILTER (n_to_here - n + most_between < (n_latencies + 1) // 2),
            CAST('-infinity' AS DOUBLE)
        ) AS low_ms,
        min(mark_ms) FILTER (n_to_here >= n_latencies // 2 + 1) AS high_ms
    FROM marks
    GROUP BY series
),

ordered AS (
    SELECT
        calls.series,
        list_sort(list(calls.latency_ms) FILTER (calls.latency_ms >= enclosing.low_ms)) AS ordered_ms,
        count(*) FILTER (calls.latency_ms < enclosing.low_ms) AS n_before,
        CAST(any_value(enclosing.first_rank) - n_before AS BIGINT) AS first_place,
        CAST(any_value(enclosing.last_rank) - n_before AS BIGINT) AS last_place
    FROM scores.latencies AS calls
    JOIN enclosing ON calls.series = enclosing.series
    WHERE calls.is_counted AND NOT calls.is_replay AND calls.latency_ms <= enclosing.high_ms
    GROUP BY calls.series
)

SELECT
    series,
    list_median([ordered_ms[first_place], ordered_ms[last_place]]) AS p50_ms
FROM ordered
