-- How far each model's figures by silver ground truth are from those by gold, over the posters that have both,
-- next to the figure of poster_report. These figures are about posters with both only; where the run's tag
-- gold_probability declares how gold was drawn, metrics has one of all posters, corrected by gold.
-- grain: run × model × metric
-- first: model, metric, n_posters, silver_mean, gold_mean, difference, difference_low, difference_high, run_id
-- inherits: poster_report
-- reported: the figure of poster_report, over all scored posters, by gold where there is gold; unrounded
-- n_scored: posters behind it
-- n_posters: those of them with gold and with the record of a model
-- silver_mean: mean over these posters by the records of models
-- gold_mean: mean over the same posters by gold
-- difference: gold_mean less silver_mean
-- difference_low: lower end of its 95 % interval, Student's by posters, from -100 to 100; NULL below 6, and
--     where all posters have the same difference
-- difference_high: upper end of that interval
-- basis: what the figures are about: always `labelled answers only`
WITH scored AS (
    SELECT
        * EXCLUDE (metrics),
        metrics.metric AS metric,
        metrics.gold AS gold,
        metrics.silver AS silver
    FROM (
        SELECT
            suite,
            run_id,
            model,
            seq,
            task_id,
            unnest([
                {metric: 'app_quality', gold: app_quality, silver: silver_app_quality},
                {metric: 'app_core', gold: app_core, silver: silver_app_core}
            ]) AS metrics
        FROM scores.poster_prediction_scores
        ANTI JOIN scores.replayed_models USING (suite, run_id, model)
    ) AS by_metric
),

averaged AS (
    SELECT
        suite,
        run_id,
        model,
        metric,
        ordered_mean(list(gold ORDER BY seq, task_id)) AS reported,
        count(*) AS n_scored,
        count(silver) AS n_posters,
        ordered_mean(list(silver ORDER BY seq, task_id) FILTER (silver IS NOT NULL)) AS silver_mean,
        ordered_mean(list(gold ORDER BY seq, task_id) FILTER (silver IS NOT NULL)) AS gold_mean,
        list(gold - silver ORDER BY gold - silver) FILTER (silver IS NOT NULL) AS differences
    FROM scored
    GROUP BY suite, run_id, model, metric
    HAVING count(silver) > 0
),

with_intervals AS (
    SELECT
        *,
        list_transform(
            clustered_student_interval(differences, list_transform(differences, lambda _: 1)),
            lambda bound: least(100, greatest(-100, bound))
        ) AS ends
    FROM averaged
)

SELECT
    suite,
    run_id,
    model,
    metric,
    reported,
    n_scored,
    n_posters,
    silver_mean,
    gold_mean,
    list_aggregate(differences, 'fsum') / n_posters AS difference,
    ends[1] AS difference_low,
    ends[2] AS difference_high,
    'labelled answers only' AS basis
FROM with_intervals
ORDER BY run_id, metric DESC, model
