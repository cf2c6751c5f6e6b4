-- Where a break between the runs of a model on a task set fits best, by each metric, and how strong the
-- evidence is: what `drift` adjusts for all series.
-- board
-- grain: suite × task set × metric × provider × model × settings, with two runs or more
-- inherits: drift, scores.series_runs
-- first_run_id: the first run
-- last_run_id: the last run
-- shift: after less before: points of the pass rate, the logarithm of the ratio for other metrics
-- margin: half the width of its 95 % interval
WITH compared AS MATERIALIZED (
    SELECT runs.*, times.position
    FROM scores.series_runs AS runs
    JOIN scores.run_times AS times
        ON runs.suite = times.suite
        AND runs.run_id = times.run_id
    WHERE runs.is_comparable AND coalesce(runs.started_at, runs.run_date) IS NOT NULL
),

-- As many rows as answers, and narrow: models and tasks are hashes until little is left. Only the
-- metrics that are tested by ranks go through a window, which keeps all its rows.
calls AS NOT MATERIALIZED (
    SELECT
        compared.subject,
        hash(
            compared.subject, text_hash(raw.task_id), text_hash(raw.task_hash),
            text_hash(raw.template_hash)
        ) AS task,
        compared.position,
        coalesce(raw.is_correct, raw.objective_pass, raw.computed) AS passed,
        raw.availability_status = 'ok' AND raw.success AS is_answered,
        length(coalesce(raw.raw_output, raw.answer)) AS characters,
        if(NOT raw.is_cached AND raw.latency_ms > 0, raw.latency_ms, NULL) AS latency_ms,
        if(NOT raw.is_cached AND raw.cost_usd > 0, raw.cost_usd, NULL) AS cost_usd
    FROM scores.resolved_results AS raw
    JOIN compared ON raw.setup = compared.setup
    WHERE raw.duplicate_of IS NULL
),

valued AS NOT MATERIALIZED (
    SELECT subject, task, position, 2 AS metric, ln(1 + characters) AS value
    FROM calls
    WHERE is_answered AND characters IS NOT NULL
    UNION ALL
    SELECT subject, task, position, 4 AS metric, ln(cost_usd) AS value
    FROM calls
    WHERE is_answered AND cost_usd IS NOT NULL
),

-- Ranks, so that a single answer cannot make a break: the mean of the first and the last of equals.
ranked AS (
    SELECT
        subject,
        metric,
        task,
        position,
        value,
        (rank() OVER until + count(*) OVER until) / 2 / (count(*) OVER of_task + 1) AS score
    FROM valued
    WINDOW
        of_task AS (PARTITION BY task, metric),
        until AS (PARTITION BY task, metric ORDER BY value)
),

tasks AS (
    SELECT
        subject,
        metric,
        task,
        position,
        count(*) AS n,
        exact_small_sum(value) AS total,
        exact_small_sum(value ** 2) AS squares,
        exact_small_sum(score) AS score_total,
        exact_small_sum(score ** 2) AS score_squares
    FROM ranked
    GROUP BY ALL
    UNION ALL
    SELECT
        subject,
        1 AS metric,
        task,
        position,
        count(*) AS n,
        CAST(count(*) FILTER (passed) AS DOUBLE) AS total,
        total AS squares,
        total AS score_total,
        total AS score_squares
    FROM calls
    WHERE passed IS NOT NULL
    GROUP BY subject, task, position
    UNION ALL
    -- A test over runs needs no ranks.
    SELECT
        subject,
        3 AS metric,
        task,
        position,
        count(*) AS n,
        exact_small_sum(ln(latency_ms)) AS total,
        exact_small_sum(ln(latency_ms) ** 2) AS squares,
        0 AS score_total,
        0 AS score_squares
    FROM calls
    WHERE is_answered AND latency_ms IS NOT NULL
    GROUP BY subject, task, position
),

strata AS (
    SELECT
        task,
        metric,
        CAST(sum(n) AS DOUBLE) AS n_all,
        exact_small_sum(total) / n_all AS mean,
        exact_small_sum(score_total) / n_all AS score_mean,
        coalesce(greatest(
            0, exact_small_sum(squares) - exact_small_sum(total) ** 2 / n_all
        ) / nullif(n_all - 1, 0), 0) AS spread,
        coalesce(greatest(
            0, exact_small_sum(score_squares) - exact_small_sum(score_total) ** 2 / n_all
        ) / nullif(n_all - 1, 0), 0) AS score_spread
    FROM tasks
    GROUP BY task, metric
),

placed AS (
    SELECT
        tasks.*,
        strata.n_all,
        strata.mean,
        strata.score_mean,
        strata.spread,
        strata.score_spread,
        CAST(sum(tasks.n) OVER (
            PARTITION BY tasks.task, tasks.metric
            ORDER BY tasks.position
        ) AS DOUBLE) AS n_until,
        -- What the run adds to n₁n₂ / (n₁ + n₂) of a break after it.
        (n_until * (n_all - n_until) - (n_until - n) * (n_all - n_until + n)) / n_all AS weight
    FROM tasks
    JOIN strata
        ON tasks.task = strata.task
        AND tasks.metric = strata.metric
),

-- What each run adds to the sums of the side before a break.
summed AS (
    SELECT
        subject,
        metric,
        position,
        exact_small_sum(total - n * mean) AS excess,
        exact_small_sum(total - n * mean) / sum(n) AS mean_excess,
        exact_small_sum(score_total - n * score_mean) AS score_excess,
        exact_small_sum(weight) AS weight,
        exact_small_sum(spread * weight) AS variance,
        exact_small_sum(score_spread * weight) AS score_variance,
        count(*) FILTER (n_until = n AND n_until < n_all)
            - count(*) FILTER (n_until = n_all AND n_until > n) AS n_tasks
    FROM placed
    GROUP BY subject, metric, position
),

subjects AS (
    SELECT DISTINCT subject, suite, task_set, provider, model, settings
    FROM compared
),

runs AS (
    SELECT subject, map_from_entries(list(DISTINCT {position: position, run_id: run_id})) AS ids
    FROM compared
    GROUP BY subject
),

of_runs AS (
    SELECT
        subjects.*,
        summed.* EXCLUDE (subject, metric),
        ['passed', 'answer_characters', 'latency_ms', 'cost_usd'][summed.metric] AS metric,
        lag(mean_excess) OVER series AS mean_excess_before,
        lead(mean_excess) OVER series AS mean_excess_next
    FROM summed
    JOIN subjects ON summed.subject = subjects.subject
    WINDOW series AS (PARTITION BY summed.subject, summed.metric ORDER BY position)
),

breaks AS (
    SELECT
        *,
        row_number() OVER until AS n_before,
        count(*) OVER series AS n_runs,
        first_value(position) OVER series AS first_position,
        last_value(position) OVER series AS last_position,
        lead(position) OVER until AS next_position,
        sum(excess) OVER until AS excess_before,
        sum(score_excess) OVER until AS score_excess_before,
        sum(weight) OVER until AS weight_before,
        sum(variance) OVER until AS variance_before,
        sum(score_variance) OVER until AS score_variance_before,
        CAST(sum(n_tasks) OVER until AS BIGINT) AS n_tasks_both,
        sum(mean_excess) OVER until AS sum_before,
        sum(mean_excess) OVER series AS sum_all,
        sum(mean_excess ** 2) OVER series AS squares_all,
        sum(mean_excess * mean_excess_before) OVER series AS lagged_all,
        first_value(mean_excess) OVER series AS first_excess,
        last_value(mean_excess) OVER series AS last_excess
    FROM of_runs
    WINDOW
        until AS (
            PARTITION BY suite, task_set, metric, provider, model, settings
            ORDER BY position
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ),
        series AS (
            PARTITION BY suite, task_set, metric, provider, model, settings
            ORDER BY position
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
),

-- The residuals of the runs from the means of their sides: their squares, and the products of
-- neighbours on the same side.
residuals AS (
    SELECT
        *,
        n_runs - n_before AS n_after,
        sum_before / n_before AS mean_before,
        (sum_all - sum_before) / n_after AS mean_after,
        greatest(
            0, squares_all - n_before * mean_before ** 2 - n_after * mean_after ** 2
        ) AS residual_squares,
        coalesce(lagged_all, 0) - mean_excess * mean_excess_next
            - mean_before * (2 * sum_before - first_excess - mean_excess)
            + (n_before - 1) * mean_before ** 2
            - mean_after * (2 * (sum_all - sum_before) - mean_excess_next - last_excess)
            + (n_after - 1) * mean_after ** 2 AS residual_products
    FROM breaks
    WHERE next_position IS NOT NULL AND n_tasks_both > 0
),

-- How much of what runs differ by their answers do not explain: only that can be correlated. Of the
-- latency it is all, as every night has another load.
unexplained AS (
    SELECT
        *,
        sqrt(variance_before) / weight_before AS error_of_answers,
        CASE
            WHEN n_runs >= 4
                THEN sqrt(residual_squares / (n_runs - 2) * (1 / n_before + 1 / n_after))
        END AS error_of_equal_runs,
        -- 1 from twice the variance that the answers explain
        CASE
            WHEN metric = 'latency_ms' THEN 1
            ELSE least(1, 2 * greatest(0, coalesce(
                1 - (error_of_answers / nullif(error_of_equal_runs, 0)) ** 2, 0
            )))
        END AS unexplained
    FROM residuals
),

correlated AS (
    SELECT
        *,
        CASE
            WHEN unexplained > 0
                THEN least(0.95, greatest(0,
                    (n_runs * coalesce(residual_products / nullif(residual_squares, 0), 0)
                        + if(metric = 'latency_ms', 4, 3) * unexplained)
                    / greatest(n_runs - 6 * unexplained, n_runs / 2)
                ))
            ELSE 0
        END AS autocorrelation,
        (1 + autocorrelation) / (1 - autocorrelation) AS inflation,
        CAST(greatest(1, floor(n_runs / inflation) - 2) AS BIGINT) AS df,
        error_of_equal_runs * sqrt(inflation) AS error_of_runs
    FROM unexplained
),

sized AS (
    SELECT
        *,
        -- Not -excess: that of 0 would be shown as -0.
        (0 - excess_before) / weight_before AS shift,
        greatest(student_quantile(df) * error_of_runs, 1.959963984540054 * error_of_answers)
            AS margin,
        CASE
            WHEN metric = 'passed' THEN greatest(0, abs(score_excess_before) - 0.5)
            WHEN metric <> 'latency_ms' THEN score_excess_before
        END AS deviation
    FROM correlated
),

tested AS (
    SELECT
        *,
        CASE
            WHEN score_variance_before > 1e-9
                THEN normal_p(deviation / sqrt(score_variance_before))
        END AS p_of_answers,
        CASE
            WHEN error_of_runs > 1e-9 THEN student_p((mean_after - mean_before) / error_of_runs, df)
            -- All runs of a side are alike, so that only the answers can be in doubt.
            WHEN error_of_runs IS NOT NULL AND p_of_answers IS NOT NULL THEN 0
        END AS p_of_runs,
        CASE
            WHEN metric = 'latency_ms' OR p_of_answers IS NOT NULL
                THEN if(p_of_runs IS NULL, NULL, greatest(p_of_runs, p_of_answers))
        END AS p_of_break
    FROM sized
),

likeliest AS (
    SELECT
        *,
        count(p_of_break) OVER of_series AS n_breaks,
        -- least() passes over NULL.
        CASE
            WHEN p_of_break IS NOT NULL
                THEN least(1.0, p_of_break * greatest(1, 0.6 * n_breaks))
        END AS p_value
    FROM tested
    WINDOW of_series AS (PARTITION BY suite, task_set, metric, provider, model, settings)
    -- The least squares of what is left find a break best; their p-values depend on chance more.
    QUALIFY row_number() OVER (
        of_series
        ORDER BY
            (mean_after - mean_before) ** 2 / (1 / n_before + 1 / n_after) DESC NULLS LAST, position
    ) = 1
)

SELECT
    likeliest.suite,
    likeliest.task_set,
    likeliest.metric,
    likeliest.provider,
    likeliest.model,
    likeliest.settings,
    likeliest.subject,
    likeliest.n_runs,
    likeliest.n_tasks_both AS n_tasks,
    runs.ids[likeliest.first_position] AS first_run_id,
    runs.ids[likeliest.last_position] AS last_run_id,
    runs.ids[likeliest.position] AS before_run_id,
    runs.ids[likeliest.next_position] AS after_run_id,
    likeliest.shift,
    likeliest.margin,
    CASE
        WHEN p_value IS NULL THEN NULL
        WHEN p_of_answers IS NULL OR p_of_runs >= p_of_answers THEN 't_of_runs'
        WHEN metric = 'passed' THEN 'mantel_haenszel'
        ELSE 'van_elteren'
    END AS test,
    CASE WHEN p_value IS NOT NULL THEN autocorrelation END AS autocorrelation,
    likeliest.n_breaks,
    likeliest.p_value
FROM likeliest
JOIN runs ON likeliest.subject = runs.subject
