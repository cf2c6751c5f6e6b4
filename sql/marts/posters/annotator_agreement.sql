-- How far two annotators agree, over the posters that both annotated.
-- grain: dataset × pair of annotators
-- inherits: lake.annotations
-- n_posters: posters that both annotated
-- event_count_agreement: share of the posters for which both found the same number of events
-- event_count_low: lower end of Wilson's 95 % interval of event_count_agreement
-- event_count_high: upper end of Wilson's 95 % interval of event_count_agreement
-- event_count_kappa: Cohen's kappa of the numbers of events; NULL if chance alone explains all of
--     them
-- n_events: sum over the posters of the larger number of events
-- date_match: events with equal dates / n_events; events are aligned by the core fields
-- date_match_low: lower end of the 95 % interval of date_match by posters; see share_interval
-- date_match_high: upper end of that interval
-- venue_match: events with equal venues / n_events; events are aligned by the core fields
-- venue_match_low: lower end of the 95 % interval of venue_match by posters; see share_interval
-- venue_match_high: upper end of that interval
WITH pairs AS (
    SELECT suite, task_set, task_id, annotator_a, annotator_b, events_a, events_b,
        dates_equal, venues_equal
    FROM scores.annotation_pairs
    WHERE events_a IS NOT NULL
),

totals AS (
    SELECT
        suite,
        task_set,
        annotator_a,
        annotator_b,
        count(*) AS n_posters,
        count(*) FILTER (events_a = events_b) AS n_equal_counts,
        CAST(sum(greatest(events_a, events_b)) AS BIGINT) AS n_events,
        CAST(sum(dates_equal) AS BIGINT) AS n_dates,
        CAST(sum(venues_equal) AS BIGINT) AS n_venues,
        list(greatest(events_a, events_b) ORDER BY task_id) FILTER (greatest(events_a, events_b) > 0) AS sizes,
        list(dates_equal ORDER BY task_id) FILTER (greatest(events_a, events_b) > 0) AS dates,
        list(venues_equal ORDER BY task_id) FILTER (greatest(events_a, events_b) > 0) AS venues
    FROM pairs
    GROUP BY suite, task_set, annotator_a, annotator_b
),

with_intervals AS (
    SELECT
        *,
        share_interval(dates, sizes) AS date_ends,
        share_interval(venues, sizes) AS venue_ends
    FROM totals
),

-- How often each annotator found each number of events, which gives the agreement by chance.
counts AS (
    SELECT suite, task_set, annotator_a, annotator_b, events_a AS events, 1 AS of_a, 0 AS of_b
    FROM pairs
    UNION ALL
    SELECT suite, task_set, annotator_a, annotator_b, events_b AS events, 0 AS of_a, 1 AS of_b
    FROM pairs
),

by_count AS (
    SELECT suite, task_set, annotator_a, annotator_b, events, sum(of_a) * sum(of_b) AS together
    FROM counts
    GROUP BY suite, task_set, annotator_a, annotator_b, events
),

chance AS (
    SELECT suite, task_set, annotator_a, annotator_b, CAST(sum(together) AS BIGINT) AS n_by_chance
    FROM by_count
    GROUP BY suite, task_set, annotator_a, annotator_b
)

SELECT
    totals.suite,
    totals.task_set,
    totals.annotator_a,
    totals.annotator_b,
    totals.n_posters,
    totals.n_equal_counts / totals.n_posters AS event_count_agreement,
    wilson_low(totals.n_equal_counts, totals.n_posters) AS event_count_low,
    wilson_high(totals.n_equal_counts, totals.n_posters) AS event_count_high,
    (totals.n_equal_counts * totals.n_posters - chance.n_by_chance)
    / nullif(totals.n_posters * totals.n_posters - chance.n_by_chance, 0) AS event_count_kappa,
    totals.n_events,
    totals.n_dates / nullif(totals.n_events, 0) AS date_match,
    date_ends[1] AS date_match_low,
    date_ends[2] AS date_match_high,
    totals.n_venues / nullif(totals.n_events, 0) AS venue_match,
    venue_ends[1] AS venue_match_low,
    venue_ends[2] AS venue_match_high
FROM with_intervals AS totals
JOIN chance USING (suite, task_set, annotator_a, annotator_b)
ORDER BY totals.suite, totals.task_set, totals.annotator_a, totals.annotator_b
