-- What the tests of two models see: the tasks that both were scored on, by each metric; see
-- board_scores. The unit is the task, or the cluster of tasks that depend on each other. The view has
-- those of wide boards only; sync computes and keeps the others, in board_pairs: those of the models
-- that have changed, with all.
-- grain: suite × task set × scorer × metric × filter × pair of models, a before b
-- inherits: score_comparisons, scores.task_facts
-- n_models: models of the task set with such a score
-- series_a: hash of the first model with its provider and settings; see scores.setups
-- series_b: the same of the second
-- has_interval: whether the test comes with an interval, which takes longer than a p-value
-- scale: largest possible score, if known
-- n_both: tasks on which both have the same score, above 0
-- n_neither: tasks on which both have the score 0
-- n_clusters: clusters of tasks; NULL where no two of the tasks are known to depend on each other
-- n_differing: tasks, or clusters of them, on which they differ
-- differences: differences of the scores, or their sums by cluster, ascending; NULL if each is pass or fail
-- sizes: tasks of each cluster, in the same order; NULL without clusters
-- test_key: hash of what the test depends on
-- bounded_tasks: where verdicts are missing, tasks that both were asked; NULL where none is. On these, each
--     missing verdict is counted against the model that is ahead on the tasks that both were judged on
-- bounded_better_a: tasks that only the first then passes
-- bounded_better_b: tasks that only the second then passes
-- bounded_differences: differences then, likewise
-- bounded_units: sums of the differences of each cluster then, and its tasks; NULL without clusters
-- bounded_sizes: tasks of each cluster then
-- bounded_test: the test of these
-- bounded_key: hash of what the test of these depends on
-- is_lead_kept: whether the model that is ahead then still is; NULL where none is missing
WITH scored AS (
    SELECT
        suite,
        task,
        task_set,
        provider,
        model,
        settings,
        scorer,
        metric,
        filter,
        run_id,
        position,
        n_scored,
        score,
        is_binary,
        is_share,
        series,
        clusters.cluster,
        hash(text_hash(suite), text_hash(task_set), text_hash(scorer), text_hash(metric), text_hash(filter)) AS contest
    FROM scores.board_scores
    SEMI JOIN scores.wide_models USING (suite, task_set)
    LEFT JOIN scores.task_clusters AS clusters USING (task)
),

contests AS (
    SELECT contests.*
    FROM (
        SELECT
            contest,
            any_value(suite) AS suite,
            any_value(task_set) AS task_set,
            any_value(scorer) AS scorer,
            any_value(metric) AS metric,
            any_value(filter) AS filter,
            count(DISTINCT series) AS n_models
        FROM scored
        GROUP BY contest
    ) AS contests
    LEFT JOIN suite_traits AS traits USING (suite)
    WHERE is_headline(metric, traits.headline_metrics, traits.minor_metrics)
),

-- The models of each contest, numbered in the order of their names.
models AS (
    SELECT
        numbered.*,
        counted.series IS NOT NULL AS is_counted
    FROM (
        SELECT
            contest,
            series,
            any_value(provider) AS provider,
            any_value(model) AS model,
            any_value(settings) AS settings,
            bool_and(is_binary) AND max(n_scored) = 1 AS is_single,
            bool_or(cluster IS NOT NULL) AS is_clustered,
            row_number() OVER (
                PARTITION BY contest
                -- An unknown provider differs from an empty one.
                ORDER BY concat_ws(
                    chr(31),
                    coalesce(any_value(provider), chr(30)),
                    any_value(model),
                    any_value(settings)
                )
            ) AS place
        FROM scored
        GROUP BY contest, series
    ) AS numbered
    JOIN contests ON numbered.contest = contests.contest
    LEFT JOIN scores.wide_models AS counted
        ON contests.suite = counted.suite
        AND contests.task_set = counted.task_set
        AND numbered.series = counted.series
),

sides AS (
    SELECT
        scored.contest,
        models.place,
        scored.task,
        coalesce(scored.cluster, scored.task) AS unit,
        models.is_clustered,
        scored.run_id,
        scored.position,
        scored.n_scored,
        scored.score,
        scored.is_share,
        -- The parts that exact_sum adds.
        try_cast(floor(scored.score) AS DECIMAL(15, 0)) AS whole,
        CAST(scored.score - whole AS DECIMAL(16, 15)) AS fraction,
        models.is_single,
        models.is_counted
    FROM scored
    JOIN models
        ON scored.contest = models.contest
        AND scored.series = models.series
),

-- Tasks of which at least one verdict is missing; those of no attempt have no score.
unsettled AS (
    SELECT
        models.contest,
        models.place,
        facts.task,
        models.is_single,
        models.is_counted,
        if(
            sides.task IS NULL,
            facts.n_results,
            facts.n_results - facts.n_judged - facts.n_open
        ) AS n_missing,
        coalesce(sides.n_scored, 0) + n_missing AS n_attempts,
        coalesce(sides.score * sides.n_scored, 0) / n_attempts AS least,
        (coalesce(sides.score * sides.n_scored, 0) + n_missing) / n_attempts AS most
    FROM scores.completed_facts AS facts
    JOIN scores.board_runs AS board ON facts.entry = board.entry
    JOIN models
        ON board.series = models.series
        AND hash(
            text_hash(board.suite), text_hash(board.task_set), text_hash(NULL), text_hash('passed'), text_hash(NULL)
        )
        = models.contest
    LEFT JOIN sides
        ON models.contest = sides.contest
        AND models.place = sides.place
        AND facts.task = sides.task
    LEFT JOIN scores.unchecked_tasks AS unchecked ON facts.task = unchecked.task
    ANTI JOIN (FROM scores.task_clusters WHERE is_copy) AS copies ON facts.task = copies.task
    WHERE
        facts.n_results > facts.n_judged
        AND NOT facts.is_replay
        AND (sides.task IS NOT NULL OR unchecked.task IS NULL)
        AND n_missing > 0
),

-- All tasks of the boards on which verdicts are missing, with the least and most that each can score.
bounds AS (
    SELECT contest, place, task, is_single, is_counted, least, most, true AS is_unsettled
    FROM unsettled
    UNION ALL
    SELECT
        contest,
        place,
        task,
        is_single,
        is_counted,
        score AS least,
        score AS most,
        false AS is_unsettled
    FROM sides
    SEMI JOIN unsettled AS boards ON sides.contest = boards.contest
    ANTI JOIN unsettled
        ON sides.contest = unsettled.contest
        AND sides.place = unsettled.place
        AND sides.task = unsettled.task
),

bounded AS (
    SELECT
        a.contest,
        a.place AS place_a,
        b.place AS place_b,
        count(*) AS n_asked,
        count(*) FILTER (floor(a.least) > ceil(b.most)) AS n_surely_a,
        count(*) FILTER (floor(a.least) < ceil(b.most)) AS n_maybe_b,
        count(*) FILTER (ceil(a.most) > floor(b.least)) AS n_maybe_a,
        count(*) FILTER (ceil(a.most) < floor(b.least)) AS n_surely_b,
        list_sort(list(a.least - b.most) FILTER (NOT (a.is_single AND b.is_single))) AS least,
        list_sort(list(a.most - b.least) FILTER (NOT (a.is_single AND b.is_single))) AS most
    FROM bounds AS a
    JOIN bounds AS b
        ON a.contest = b.contest
        AND a.task = b.task
        AND a.place < b.place
        AND (a.is_counted OR b.is_counted)
    GROUP BY a.contest, a.place, b.place
    HAVING bool_or(a.is_unsettled OR b.is_unsettled)
),

-- The same by cluster, where tasks depend on each other.
bounded_units AS (
    SELECT
        contest,
        place_a,
        place_b,
        list_sort(list({sum: least, n: n_tasks})) AS least,
        list_sort(list({sum: most, n: n_tasks})) AS most
    FROM (
        SELECT
            a.contest,
            a.place AS place_a,
            b.place AS place_b,
            coalesce(clusters.cluster, a.task) AS unit,
            round(exact_sum(
                if(a.is_single AND b.is_single, floor(a.least) - ceil(b.most), a.least - b.most)
            ), 12) AS least,
            round(exact_sum(
                if(a.is_single AND b.is_single, ceil(a.most) - floor(b.least), a.most - b.least)
            ), 12) AS most,
            count(*) AS n_tasks
        FROM bounds AS a
        JOIN bounds AS b
            ON a.contest = b.contest
            AND a.task = b.task
            AND a.place < b.place
            AND (a.is_counted OR b.is_counted)
        SEMI JOIN (SELECT contest FROM models WHERE is_clustered) AS boards
            ON a.contest = boards.contest
        LEFT JOIN scores.task_clusters AS clusters ON a.task = clusters.task
        GROUP BY a.contest, a.place, b.place, unit
    ) AS units
    GROUP BY contest, place_a, place_b
    HAVING count(*) < sum(n_tasks)
),

compared AS (
    SELECT
        a.contest,
        a.place AS place_a,
        b.place AS place_b,
        bool_and(a.is_single AND b.is_single) AS is_pass_or_fail,
        bool_and(a.is_share AND b.is_share) AS are_shares,
        arg_max(a.run_id, a.position) AS run_a,
        arg_max(b.run_id, b.position) AS run_b,
        count(*) AS n_tasks,
        CAST(sum(a.n_scored) AS BIGINT) AS n_attempts_a,
        CAST(sum(b.n_scored) AS BIGINT) AS n_attempts_b,
        count(*) FILTER (a.score = b.score AND a.score <> 0) AS n_both,
        count(*) FILTER (a.score > b.score) AS n_better_a,
        count(*) FILTER (a.score < b.score) AS n_better_b,
        count(*) FILTER (a.score = 0 AND b.score = 0) AS n_neither,
        list_sum([
            exact_total(sum(a.whole), sum(a.fraction)),
            ordered_sum(list_sort(list(a.score) FILTER (a.whole IS NULL)))
        ]) / count(*) AS mean_a,
        list_sum([
            exact_total(sum(b.whole), sum(b.fraction)),
            ordered_sum(list_sort(list(b.score) FILTER (b.whole IS NULL)))
        ]) / count(*) AS mean_b,
        list_sort(list(a.score - b.score) FILTER (NOT (a.is_single AND b.is_single)))
            AS differences
    FROM sides AS a
    JOIN sides AS b
        ON a.contest = b.contest
        AND a.task = b.task
        AND a.place < b.place
        AND (a.is_counted OR b.is_counted)
    GROUP BY a.contest, a.place, b.place
),

-- The differences by cluster, where tasks depend on each other.
clustered AS (
    SELECT
        contest,
        place_a,
        place_b,
        list_sort(list({sum: difference, n: n_tasks})) AS units
    FROM (
        SELECT
            a.contest,
            a.place AS place_a,
            b.place AS place_b,
            round(exact_sum(a.score - b.score), 12) AS difference,
            count(*) AS n_tasks
        FROM sides AS a
        JOIN sides AS b
            ON a.contest = b.contest
            AND a.task = b.task
            AND a.place < b.place
            AND (a.is_counted OR b.is_counted)
        WHERE a.is_clustered AND b.is_clustered
        GROUP BY a.contest, a.place, b.place, a.unit
    ) AS units
    GROUP BY contest, place_a, place_b
    HAVING count(*) < sum(n_tasks)
),

pairs AS (
    SELECT
        contests.suite,
        contests.task_set,
        contests.scorer,
        contests.metric,
        contests.filter,
        a.series AS series_a,
        a.provider AS provider_a,
        a.model AS model_a,
        a.settings AS settings_a,
        b.series AS series_b,
        b.provider AS provider_b,
        b.model AS model_b,
        b.settings AS settings_b,
        contests.n_models,
        CASE
            WHEN list_contains(traits.percent_metrics, contests.metric) THEN 100
            -- Scores that all happen to be 0 can be of any scale.
            WHEN compared.are_shares AND compared.n_neither < compared.n_tasks THEN 1
        END AS scale,
        compared.* EXCLUDE (contest, place_a, place_b, are_shares),
        bounded.* EXCLUDE (contest, place_a, place_b),
        clustered.units,
        bounded_units.least AS least_units,
        bounded_units.most AS most_units
    FROM compared
    JOIN contests ON compared.contest = contests.contest
    LEFT JOIN suite_traits AS traits ON contests.suite = traits.suite
    JOIN models AS a
        ON compared.contest = a.contest
        AND compared.place_a = a.place
    JOIN models AS b
        ON compared.contest = b.contest
        AND compared.place_b = b.place
    LEFT JOIN bounded
        ON compared.contest = bounded.contest
        AND compared.place_a = bounded.place_a
        AND compared.place_b = bounded.place_b
    LEFT JOIN clustered
        ON compared.contest = clustered.contest
        AND compared.place_a = clustered.place_a
        AND compared.place_b = clustered.place_b
    LEFT JOIN bounded_units
        ON compared.contest = bounded_units.contest
        AND compared.place_a = bounded_units.place_a
        AND compared.place_b = bounded_units.place_b
),

averaged AS (
    SELECT
        *,
        CASE
            WHEN is_pass_or_fail THEN (n_better_a - n_better_b) / n_tasks
            ELSE ordered_mean(differences)
        END AS mean_difference
    FROM pairs
)

SELECT
    suite,
    task_set,
    scorer,
    metric,
    filter,
    n_models,
    n_models <= 20 AS has_interval,
    scale,
    series_a,
    provider_a,
    model_a,
    settings_a,
    run_a,
    series_b,
    provider_b,
    model_b,
    settings_b,
    run_b,
    n_tasks,
    n_attempts_a,
    n_attempts_b,
    n_both,
    n_better_a,
    n_better_b,
    n_neither,
    mean_a,
    mean_b,
    mean_difference,
    len(units) AS n_clusters,
    if(
        units IS NULL,
        n_better_a + n_better_b,
        len(list_filter(units, lambda unit: unit.sum <> 0))
    ) AS n_differing,
    coalesce(list_transform(units, lambda unit: unit.sum), averaged.differences) AS differences,
    list_transform(units, lambda unit: unit.n) AS sizes,
    CASE
        WHEN is_pass_or_fail AND n_clusters IS NULL THEN 'score'
        WHEN scale IS NOT NULL THEN 'bounded_mean'
        ELSE 'sign_flip'
    END AS test,
    hash(
        test, n_tasks, n_better_a, n_better_b, scale, averaged.differences, units
    ) AS test_key,
    CASE WHEN test <> 'sign_flip' THEN n_asked END AS bounded_tasks,
    if(mean_difference > 0, n_surely_a, n_maybe_a) AS bounded_better_a,
    if(mean_difference > 0, n_maybe_b, n_surely_b) AS bounded_better_b,
    if(mean_difference > 0, least_units, most_units) AS bounded_units,
    coalesce(
        list_transform(bounded_units, lambda unit: unit.sum),
        if(mean_difference > 0, least, most)
    ) AS bounded_differences,
    list_transform(bounded_units, lambda unit: unit.n) AS bounded_sizes,
    CASE WHEN is_pass_or_fail AND bounded_sizes IS NULL THEN 'score' ELSE test END
        AS bounded_test,
    CASE
        WHEN bounded_tasks IS NOT NULL THEN
            hash(
                bounded_test, n_asked, bounded_better_a, bounded_better_b, scale,
                bounded_differences, bounded_sizes
            )
    END AS bounded_key,
    CASE WHEN bounded_key IS NOT NULL THEN coalesce(
        mean_difference * coalesce(list_sum(bounded_differences), bounded_better_a - bounded_better_b) > 0,
        true
    ) END AS is_lead_kept
FROM averaged
