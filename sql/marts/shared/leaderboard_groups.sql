-- Which models of a leaderboard the data cannot tell apart: all pairs of its comparable rows, by the
-- main metric, on the tasks that both were scored on. The tests are those of `evalstore compare
-- --ranks`, adjusted for all pairs of the board; more than 100 models have no ranks.
-- grain: suite × task set × provider × model × settings
-- inherits: leaderboard
-- blocks: suite, task_set
-- first: metric, model, settings, rank_low, rank_high, n_models, pass_rate, score,
--     alike_models
-- metric: the main metric of the task set
-- rank_low: best rank that the data leave open: 1 + the models that are better (adjusted p below 0.05,
--     at least 6 tasks, or clusters of them, differ, and it holds with every missing verdict counted
--     against the better one)
-- rank_high: worst rank that the data leave open: all models but those that are worse. All these
--     intervals hold together with 95 % confidence (Mohamad et al. 2019, Biostatistics 20, 676)
-- n_models: rows of the leaderboard that are compared: same tasks, and a figure
-- n_better: models that are better
-- n_worse: models that are worse
-- alike_models: the others, which may be equal to it, each with its settings, in their order in the
--     leaderboard
WITH boards AS (
    SELECT
        suite,
        task_set,
        metric,
        scorer,
        filter,
        provider,
        model,
        settings,
        run_id,
        pass_rate,
        score,
        if(is_lesser, -1, 1) AS direction,
        row_number() OVER (
            PARTITION BY suite, task_set
            ORDER BY direction * coalesce(min_pass_rate, pass_rate, score) DESC, provider, model, settings
        ) AS place,
        count(*) OVER (PARTITION BY suite, task_set) AS n_models
    FROM leaderboard
    LEFT JOIN scores.lesser_metrics USING (suite, task_set, metric)
    WHERE is_main AND is_comparable AND coalesce(pass_rate, score) IS NOT NULL
),

pairs AS (
    SELECT
        a.suite,
        a.task_set,
        a.place AS place_a,
        b.place AS place_b,
        a.direction * pairs.mean_difference AS difference,
        pairs.n_differing,
        pairs.difference_low,
        pairs.difference_high,
        CASE WHEN coalesce(pairs.n_clusters, pairs.n_tasks) >= 6 THEN pairs.p_held END AS p_value
    FROM scores.tested_pairs AS pairs
    JOIN boards AS a
        ON pairs.suite = a.suite
        AND pairs.task_set = a.task_set
        AND pairs.metric = a.metric
        AND pairs.scorer IS NOT DISTINCT FROM a.scorer
        AND pairs.filter IS NOT DISTINCT FROM a.filter
        AND pairs.provider_a IS NOT DISTINCT FROM a.provider
        AND pairs.model_a = a.model
        AND pairs.settings_a = a.settings
    JOIN boards AS b
        ON pairs.suite = b.suite
        AND pairs.task_set = b.task_set
        AND pairs.provider_b IS NOT DISTINCT FROM b.provider
        AND pairs.model_b = b.model
        AND pairs.settings_b = b.settings
),

ranked AS (
    SELECT
        *,
        (count(p_value) OVER of_set + 1 - row_number() OVER (
            PARTITION BY suite, task_set ORDER BY p_value NULLS LAST, place_a, place_b
        )) * p_value AS stepped
    FROM pairs
    WINDOW of_set AS (PARTITION BY suite, task_set)
),

decided AS (
    SELECT
        suite,
        task_set,
        place_a,
        place_b,
        difference,
        coalesce(max(stepped) OVER (
            PARTITION BY suite, task_set ORDER BY p_value NULLS LAST, place_a, place_b
        ) < 0.05, false) AND p_value IS NOT NULL
        AND n_differing >= 6
        AND coalesce(difference_low > 0 OR difference_high < 0, true) AS is_decided
    FROM ranked
),

sides AS (
    SELECT
        suite,
        task_set,
        place_a AS place,
        place_b AS other,
        is_decided,
        difference
    FROM decided
    UNION ALL
    SELECT
        suite,
        task_set,
        place_b AS place,
        place_a AS other,
        is_decided,
        -difference AS difference
    FROM decided
),

-- A pair without a common task is not decided either.
others AS (
    SELECT
        board.suite,
        board.task_set,
        board.place,
        count(*) FILTER (sides.is_decided AND sides.difference < 0) AS n_better,
        count(*) FILTER (sides.is_decided AND sides.difference > 0) AS n_worse,
        list(
            other.model || CASE WHEN other.settings = '' THEN '' ELSE ' (' || other.settings || ')' END
            ORDER BY other.place
        ) FILTER (sides.is_decided IS NOT true) AS alike_models
    FROM boards AS board
    JOIN boards AS other
        ON board.suite = other.suite
        AND board.task_set = other.task_set
        AND board.place <> other.place
    LEFT JOIN sides
        ON board.suite = sides.suite
        AND board.task_set = sides.task_set
        AND board.place = sides.place
        AND other.place = sides.other
    GROUP BY board.suite, board.task_set, board.place
)

SELECT
    boards.suite,
    boards.task_set,
    boards.metric,
    boards.scorer,
    boards.filter,
    boards.provider,
    boards.model,
    boards.settings,
    boards.run_id,
    boards.pass_rate,
    boards.score,
    CASE WHEN boards.n_models <= 100 THEN 1 + coalesce(others.n_better, 0) END AS rank_low,
    CASE WHEN boards.n_models <= 100 THEN boards.n_models - coalesce(others.n_worse, 0) END
        AS rank_high,
    boards.n_models,
    coalesce(others.n_better, 0) AS n_better,
    coalesce(others.n_worse, 0) AS n_worse,
    coalesce(others.alike_models, []) AS alike_models
FROM boards
LEFT JOIN others
    ON boards.suite = others.suite
    AND boards.task_set = others.task_set
    AND boards.place = others.place
ORDER BY boards.suite, boards.task_set, boards.place
