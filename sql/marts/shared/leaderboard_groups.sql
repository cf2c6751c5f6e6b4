-- Which models of a leaderboard the data cannot tell apart: all pairs of its comparable rows, by the
-- main metric, on the tasks that both were scored on. The tests are those of paired_comparisons, over
-- the runs of the leaderboard; `evalstore compare --ranks` compares any other choice.
-- grain: suite × task set × provider × model × settings
-- inherits: leaderboard
-- first: task_set, metric, model, settings, rank_low, rank_high, n_models, pass_rate, score,
--     alike_models
-- metric: the main metric of the task set
-- rank_low: best rank that the data leave open: 1 + the models that are better (adjusted p below 0.05)
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
        coalesce(pass_rate, score) AS figure,
        row_number() OVER (
            PARTITION BY suite, task_set
            ORDER BY coalesce(pass_rate, score) DESC, provider, model, settings
        ) AS place,
        count(*) OVER (PARTITION BY suite, task_set) AS n_models
    FROM leaderboard
    WHERE is_main AND is_comparable AND coalesce(pass_rate, score) IS NOT NULL
),

tasks AS (
    SELECT
        boards.suite,
        boards.task_set,
        boards.place,
        scored.task_id,
        ordered_mean(list_sort(scored.scored)) AS score,
        boards.pass_rate IS NOT NULL AND len(scored.scored) = 1 AS is_single
    FROM boards
    JOIN scores.scored_tasks AS scored
        ON boards.suite = scored.suite
        AND boards.run_id = scored.run_id
        AND boards.task_set = scored.task_set
        AND boards.provider IS NOT DISTINCT FROM scored.provider
        AND boards.model IS NOT DISTINCT FROM scored.model
        AND boards.settings = scored.settings
        AND boards.metric = scored.metric
        AND boards.scorer IS NOT DISTINCT FROM scored.scorer
        AND boards.filter IS NOT DISTINCT FROM scored.filter
    WHERE len(scored.scored) > 0
),

pairs AS (
    SELECT
        a.suite,
        a.task_set,
        a.place AS place_a,
        b.place AS place_b,
        count(*) AS n_tasks,
        bool_and(a.is_single AND b.is_single) AS is_pass_or_fail,
        count(*) FILTER (a.score > b.score) AS n_better_a,
        count(*) FILTER (a.score < b.score) AS n_better_b,
        list_sort(list(a.score - b.score)) AS differences
    FROM tasks AS a
    JOIN tasks AS b
        ON a.suite = b.suite
        AND a.task_set = b.task_set
        AND a.task_id = b.task_id
        AND a.place < b.place
    GROUP BY a.suite, a.task_set, a.place, b.place
),

averaged AS (
    SELECT *, ordered_mean(differences) AS difference
    FROM pairs
),

-- A mean of the same SELECT would be computed again for each difference.
tested AS (
    SELECT
        *,
        nullif(sqrt(ordered_sum(list_transform(
            differences, lambda d: (d - difference) ** 2
        )) / nullif(n_tasks - 1, 0) / n_tasks), 0) AS standard_error,
        CASE
            WHEN is_pass_or_fail THEN mcnemar_p(n_better_a, n_better_b)
            ELSE student_p(difference / standard_error, greatest(n_tasks - 1, 1))
        END AS p_value
    FROM averaged
),

ranked AS (
    SELECT
        *,
        (count(p_value) OVER of_set + 1 - row_number() OVER (
            PARTITION BY suite, task_set ORDER BY p_value NULLS LAST, place_a, place_b
        )) * p_value AS stepped
    FROM tested
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
        ) < 0.05, false) AND p_value IS NOT NULL AS is_decided
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
    1 + coalesce(others.n_better, 0) AS rank_low,
    boards.n_models - coalesce(others.n_worse, 0) AS rank_high,
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
