-- What a judge said of each task of a run, and people or settled labels of the same answers on the same scale: a
-- corrected mean is made of these; see scores.corrected_means. Of people and gold it is the one with more labels of the
-- run, of as many gold. Attempts and turns are averaged; a task is labelled if all that the judge rated is.
-- grain: run × provider × model × settings × task set × scorer × metric × task
-- inherits: scores.resolved_results, scores.task_facts
-- scorer: the judge; see rater_name
-- metric: the criterion
-- source: people or gold
-- value: mean of the judge's ratings
-- label: mean of the labels; NULL where a rating of the judge has none
-- is_partial: whether only some of the judge's ratings have a label
-- chance: probability with which the answers were chosen to be labelled; NULL if not recorded, or if they differ
-- n_results: attempts that the judge rated
-- scale_low: lowest value of the scale; NULL if not recorded
-- scale_high: highest value of the scale
-- cluster: hash of the cluster of tasks; NULL of a task that is known to depend on none
WITH given AS (
    SELECT
        coalesce(rated_suite, suite) AS suite,
        coalesce(rated_run_id, run_id) AS run_id,
        result_id,
        criterion,
        turn,
        rater,
        slot,
        rater_kind,
        rater_config,
        rater_name(rater, rater_kind, rater_config) AS side,
        rater_kind IN ('human', 'gold') AS is_label,
        value,
        CASE WHEN scale_low < scale_high THEN [scale_low, scale_high] END AS scale,
        sampling_probability AS chance,
        content_id,
        {rated_at: coalesce(rated_at, TIMESTAMP '0001-01-01'), batch: batch, id: content_id} AS age
    FROM (
        FROM lake.ratings
        UNION ALL BY NAME
        FROM scores.poster_silver_ratings
    ) AS ratings
    WHERE result_id IS NOT NULL
        -- A label that was drawn but not given has a probability, too.
        AND (value IS NOT NULL OR rater_kind IN ('human', 'gold') AND sampling_probability IS NOT NULL)
),

newest AS (
    SELECT
        suite,
        run_id,
        result_id,
        criterion,
        turn,
        side,
        is_label,
        arg_max({value: value, scale: scale, chance: chance}, age) AS rating
    FROM given
    GROUP BY
        suite, run_id, result_id, criterion, turn, side, is_label, rater, slot, rater_kind, rater_config,
        CASE WHEN rater IS NULL AND slot IS NULL THEN content_id END
),

sides AS (
    SELECT
        suite,
        run_id,
        result_id,
        criterion,
        turn,
        side,
        is_label,
        list_aggregate(list(rating.value ORDER BY rating.value), 'fsum') / nullif(count(rating.value), 0) AS value,
        CASE WHEN min(rating.scale) = max(rating.scale) THEN min(rating.scale) END AS scale,
        CASE WHEN count(rating.chance) = count(*) AND min(rating.chance) = max(rating.chance)
            THEN min(rating.chance)
        END AS chance
    FROM newest
    GROUP BY suite, run_id, result_id, criterion, turn, side, is_label
),

sources AS (
    SELECT suite, run_id, criterion, side
    FROM sides
    WHERE is_label
    GROUP BY suite, run_id, criterion, side
    HAVING count(value) > 0
    QUALIFY row_number() OVER (PARTITION BY suite, run_id, criterion ORDER BY count(value) DESC, side) = 1
),

counted AS (
    SELECT entry
    FROM scores.task_facts
    WHERE NOT is_replay
    GROUP BY entry
    HAVING max(n_counted) > 0
)

SELECT
    judged.suite,
    judged.run_id,
    any_value(calls.task_id) AS task_id,
    judged.side AS scorer,
    judged.criterion AS metric,
    any_value(sources.side) AS source,
    list_aggregate(list(judged.value ORDER BY judged.value), 'fsum') / count(*) AS value,
    CASE WHEN count(labels.value) = count(*)
        THEN list_aggregate(list(labels.value ORDER BY labels.value), 'fsum') / count(*)
    END AS label,
    count(labels.value) BETWEEN 1 AND count(*) - 1 AS is_partial,
    CASE WHEN count(labels.chance) = count(*) AND min(labels.chance) = max(labels.chance)
        THEN min(labels.chance)
    END AS chance,
    min(coalesce(judged.scale, labels.scale))[1] AS scale_low,
    max(coalesce(judged.scale, labels.scale))[2] AS scale_high,
    count(DISTINCT judged.result_id) AS n_results,
    any_value(clusters.cluster) AS cluster,
    calls.entry,
    calls.task
FROM sides AS judged
JOIN sources
    ON judged.suite = sources.suite
    AND judged.run_id = sources.run_id
    AND judged.criterion = sources.criterion
LEFT JOIN sides AS labels
    ON judged.suite = labels.suite
    AND judged.run_id = labels.run_id
    AND judged.result_id = labels.result_id
    AND judged.criterion = labels.criterion
    AND judged.turn IS NOT DISTINCT FROM labels.turn
    AND labels.side = sources.side
    -- 3 of 5 is not 3 of 100.
    AND (judged.scale = labels.scale) IS NOT false
JOIN (
    SELECT suite, run_id, result_id, entry, task_id, task_number(suite, task_set, task_id) AS task
    FROM scores.resolved_results
    WHERE NOT is_replay
) AS calls
    ON judged.suite = calls.suite
    AND judged.run_id = calls.run_id
    AND judged.result_id = calls.result_id
SEMI JOIN counted ON calls.entry = counted.entry
LEFT JOIN scores.task_clusters AS clusters ON calls.task = clusters.task
WHERE NOT judged.is_label AND judged.value IS NOT NULL
GROUP BY judged.suite, judged.run_id, calls.entry, calls.task, judged.side, judged.criterion
