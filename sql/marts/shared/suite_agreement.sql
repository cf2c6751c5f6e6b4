-- Whether two task sets rank the same models alike, by the main metric of each: of each model, its comparable run on
-- the leaderboard. Several settings or providers of a model are one, by their mean.
-- grain: pair of task sets with a model in common
-- inherits: shared_tasks
-- first: suite, task_set, other_suite, other_task_set, finding, n_models, tau, spearman, correlation,
--     correlation_ceiling
-- suite: suite of the first task set; a pair is shown once, in alphabetical order
-- metric: main metric of the first task set
-- other_metric: main metric of the other task set
-- n_models: models, by name, that both have a score of
-- finding: what the data show of the pair by itself: `same_tasks`: half of the items of one are in the other, or
--     more, so that they agree by construction; `too_few_models`: fewer than 5; `equal_models`: the scores of a
--     set do not show that its models differ (p of 0.05 or above); `related` or `opposed`: the interval of
--     Spearman's correlation is above or below 0; else `inconclusive`
-- shared_share: share of the items of the smaller set that are in the other one; NULL where none is known to be
-- tau: Kendall's tau-b over the models; NULL below 5 models, or where all are equal
-- tau_low: lower end of its 95 % interval; see rank_interval
-- tau_high: upper end of it
-- spearman: Spearman's rank correlation
-- spearman_low: lower end of its 95 % interval; see rank_interval
-- spearman_high: upper end of it
-- correlation: Pearson's correlation of the scores; without an interval, which holds for normal scores only
-- correlation_ceiling: the highest correlation that noise leaves of a perfect one: sqrt(reliability *
--     other_reliability)
-- reliability: share of the variance of the models' scores that is not noise: of complete results Cronbach's
--     alpha over tasks, from 0; NULL for one task, or where all are equal
-- other_reliability: the same of the other task set
WITH board AS (
    SELECT
        {suite: suite, task_set: task_set} AS side,
        {metric: metric, scorer: scorer, filter: filter} AS by,
        provider,
        model,
        settings,
        coalesce(pass_rate, score) AS score
    FROM leaderboard
    WHERE is_main AND is_comparable AND coalesce(pass_rate, score) IS NOT NULL AND model IS NOT NULL
),

scored AS (
    SELECT
        board.* EXCLUDE (score),
        tasks.task_id,
        tasks.score
    FROM board
    JOIN scores.board_scores AS tasks
        ON board.side = {suite: tasks.suite, task_set: tasks.task_set}
        AND board.by = {metric: tasks.metric, scorer: tasks.scorer, filter: tasks.filter}
        AND board.provider IS NOT DISTINCT FROM tasks.provider
        AND board.model = tasks.model
        AND board.settings = tasks.settings
),

-- How far each is from the mean of all at a task: what varies by itself, and not with the task.
noise AS (
    SELECT
        scored.side,
        scored.model,
        scored.settings,
        scored.provider,
        list_var_samp(list(
            (scored.score - tasks.mean) * sqrt(tasks.n / nullif(tasks.n - 1, 0)) ORDER BY task_id
        )) / count(*) AS error
    FROM scored
    JOIN (
        SELECT side, task_id, count(*) AS n, exact_mean(score) AS mean
        FROM scored
        GROUP BY side, task_id
    ) AS tasks USING (side, task_id)
    GROUP BY scored.side, scored.model, scored.settings, scored.provider
),

models AS (
    SELECT
        board.side,
        board.by.metric AS metric,
        board.model,
        rounded(exact_mean(board.score), 12) AS score,
        exact_mean(noise.error) / count(*) AS error
    FROM board
    LEFT JOIN noise
        ON board.side = noise.side
        AND board.provider IS NOT DISTINCT FROM noise.provider
        AND board.model = noise.model
        AND board.settings = noise.settings
    GROUP BY board.side, board.by.metric, board.model
),

shared AS (
    SELECT
        a.side,
        b.side AS other,
        a.metric,
        b.metric AS other_metric,
        a.model,
        a.score AS x,
        b.score AS y,
        a.error,
        b.error AS other_error
    FROM models AS a
    JOIN models AS b
        ON a.model = b.model
        AND a.side < b.side
),

-- What a model's place is, and how often the sets put two models in the same order.
compared AS (
    SELECT
        a.side,
        a.other,
        a.model,
        sum(sign(a.x - b.x)) AS rank,
        sum(sign(a.y - b.y)) AS other_rank,
        sum(sign(a.x - b.x) * sign(a.y - b.y)) AS n_same,
        count(*) FILTER (a.x <> b.x) AS n_apart,
        count(*) FILTER (a.y <> b.y) AS n_other_apart
    FROM shared AS a
    JOIN shared AS b
        ON a.side = b.side
        AND a.other = b.other
        AND a.model <> b.model
    GROUP BY a.side, a.other, a.model
),

ranks AS (
    SELECT
        side,
        other,
        sum(n_same) / nullif(sqrt(sum(n_apart) * sum(n_other_apart)), 0) AS tau,
        -- Ranks from the middle add up to 0.
        sum(rank * other_rank) / nullif(sqrt(sum(rank ** 2) * sum(other_rank ** 2)), 0) AS spearman
    FROM compared
    GROUP BY side, other
),

spreads AS (
    SELECT
        side,
        other,
        any_value(metric) AS metric,
        any_value(other_metric) AS other_metric,
        count(*) AS n_models,
        list(x ORDER BY model) AS xs,
        list(y ORDER BY model) AS ys,
        exact_mean(error) / nullif(list_var_samp(xs), 0) AS noise_share,
        exact_mean(other_error) / nullif(list_var_samp(ys), 0) AS other_noise_share,
        (exact_mean(x * y) - exact_mean(x) * exact_mean(y)) * n_models / nullif(n_models - 1, 0)
            / nullif(sqrt(list_var_samp(xs) * list_var_samp(ys)), 0) AS correlation
    FROM shared
    GROUP BY side, other
),

figures AS (
    SELECT
        spreads.*,
        CASE WHEN n_models >= 5 THEN ranks.tau END AS tau,
        CASE WHEN n_models >= 5 THEN ranks.spearman END AS spearman,
        rank_interval(tau, n_models, true) AS tau_ends,
        rank_interval(spearman, n_models, false) AS spearman_ends,
        CASE WHEN noise_share IS NOT NULL THEN greatest(0.0, 1 - noise_share) END AS reliability,
        CASE WHEN other_noise_share IS NOT NULL THEN greatest(0.0, 1 - other_noise_share) END
            AS other_reliability,
        chi_square_p((n_models - 1) / greatest(noise_share, other_noise_share, 1e-9), n_models - 1)
            AS p_equal
    FROM spreads
    LEFT JOIN ranks
        ON spreads.side = ranks.side
        AND spreads.other = ranks.other
)

SELECT
    figures.side.suite,
    figures.side.task_set,
    figures.other.suite AS other_suite,
    figures.other.task_set AS other_task_set,
    figures.metric,
    figures.other_metric,
    figures.n_models,
    CASE
        WHEN greatest(items.share, items.other_share) >= 0.5 THEN 'same_tasks'
        WHEN figures.n_models < 5 THEN 'too_few_models'
        WHEN figures.spearman IS NULL OR figures.p_equal >= 0.05 THEN 'equal_models'
        WHEN figures.spearman_ends[1] > 0 THEN 'related'
        WHEN figures.spearman_ends[2] < 0 THEN 'opposed'
        ELSE 'inconclusive'
    END AS finding,
    greatest(items.share, items.other_share) AS shared_share,
    figures.tau,
    figures.tau_ends[1] AS tau_low,
    figures.tau_ends[2] AS tau_high,
    figures.spearman,
    figures.spearman_ends[1] AS spearman_low,
    figures.spearman_ends[2] AS spearman_high,
    CASE WHEN figures.n_models >= 5 THEN figures.correlation END AS correlation,
    sqrt(figures.reliability * figures.other_reliability) AS correlation_ceiling,
    figures.reliability,
    figures.other_reliability
FROM figures
LEFT JOIN shared_tasks AS items
    ON figures.side = {suite: items.suite, task_set: items.task_set}
    AND figures.other = {suite: items.other_suite, task_set: items.other_task_set}
ORDER BY ALL
