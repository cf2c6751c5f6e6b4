-- Each figure of a HELM run next to the same figure of the scores in the store, as HELM computes it:
-- in each trial the sum of all values by their number, not the mean of the instances' means, and of
-- the trials the mean.
-- grain: figure of a HELM run
-- inherits: scores.score_pairs
-- reducer: worst: the least value of the variants of each instance; original: the unperturbed
--     instances of which there is such a variant; NULL for all values
-- n_stored: instances in the store of the split and perturbation that the figure is about, with any
--     score; of the run, where none has
-- n: instances behind recomputed, in the trial with most
WITH figures AS (
    SELECT
        *,
        coalesce(score, metric) AS scored_by,
        reducer_parameters ->> '$.variants' AS variants,
        reducer_parameters ->> '$.per' AS per,
        coalesce(variants IN ('robustness', 'fairness'), false) AS is_of_many
    FROM lake.reported_metrics
    WHERE suite = 'helm'
),

calls AS (
    SELECT run_id, content_id AS result_id, task_id, attempt, seq
    FROM lake.results
    WHERE suite = 'helm' AND run_id IN (SELECT run_id FROM figures)
),

sizes AS (
    SELECT run_id, count(DISTINCT task_id) AS n_stored
    FROM calls
    GROUP BY run_id
),

-- A statistic of an instance may be of several values: of several completions or references.
scored AS (
    SELECT
        scores.run_id,
        scores.metric,
        scores.filter,
        calls.attempt,
        calls.task_id,
        calls.seq,
        nullif(strpos(coalesce(scores.filter, ''), '{"'), 0) AS place,
        -- The filter's perturbation, without on what it was computed.
        regexp_replace(substr(scores.filter, place), '"computed_on":"\w+",', '') AS perturbation,
        CASE WHEN place IS NULL THEN scores.filter
            ELSE nullif(rtrim(left(scores.filter, place - 1)), '') END AS split,
        -- The id of a perturbed instance ends in a hash of the perturbation.
        CASE WHEN place IS NULL THEN calls.task_id ELSE left(calls.task_id, length(calls.task_id) - 7)
        END AS instance,
        -- NaN is a score that was not given; infinity is one.
        nullif(coalesce(scores.value, try_cast(scores.text AS DOUBLE)), 'nan'::DOUBLE) AS amount,
        coalesce(try_cast(scores.extra ->> '$.count' AS DOUBLE), 1) AS n_values,
        coalesce(try_cast(scores.extra ->> '$.min' AS DOUBLE), amount) AS least
    FROM lake.result_scores AS scores
    JOIN calls
        ON scores.run_id = calls.run_id
        AND scores.result_id = calls.result_id
    WHERE scores.suite = 'helm' AND amount IS NOT NULL
),

parts AS (
    SELECT run_id, filter, count(DISTINCT task_id) AS n_stored
    FROM scored
    GROUP BY run_id, filter
),

trials AS (
    SELECT
        run_id, metric, filter, attempt,
        ordered_sum(list(amount * n_values ORDER BY task_id, seq)) AS total,
        sum(n_values) AS n_values,
        count(DISTINCT task_id) AS n_tasks
    FROM scored
    GROUP BY run_id, metric, filter, attempt
),

-- What each instance adds to a figure of variants.
variants AS (
    SELECT
        figures.run_id, figures.content_id, scored.attempt, scored.instance,
        CASE figures.reducer
            WHEN 'worst' THEN min(least)
            ELSE ordered_sum(list(amount * n_values ORDER BY scored.seq) FILTER (perturbation IS NULL))
        END AS amount,
        CASE figures.reducer
            WHEN 'worst' THEN 1
            ELSE sum(n_values) FILTER (perturbation IS NULL)
        END AS n_values
    FROM figures
    JOIN scored
        ON figures.run_id = scored.run_id
        AND figures.scored_by = scored.metric
        AND figures.filter IS NOT DISTINCT FROM scored.split
        AND (
            scored.perturbation IS NULL
            OR scored.perturbation = figures.variants
            OR figures.is_of_many
            AND json_extract_string(scored.perturbation, '$.' || figures.variants) = 'true'
        )
    WHERE figures.variants IS NOT NULL AND figures.reason IS NULL
    GROUP BY
        figures.run_id, figures.content_id, figures.reducer, figures.is_of_many, scored.attempt,
        scored.instance
    -- An instance that a perturbation leaves as it is has no variant of that perturbation.
    HAVING figures.is_of_many OR count(scored.perturbation) > 0
),

of_trials AS (
    SELECT
        figures.run_id, figures.content_id, trials.attempt, trials.n_tasks,
        CASE figures.statistic
            WHEN 'count' THEN trials.n_tasks
            WHEN 'mean' THEN trials.total / trials.n_values
            WHEN 'ratio' THEN trials.total / nullif(divisors.total, 0)
            WHEN 'perplexity' THEN exp(-trials.total / nullif(divisors.total, 0))
            WHEN 'bits' THEN -trials.total / nullif(divisors.total, 0) / ln(2)
        END AS figure
    FROM figures
    JOIN trials
        ON figures.run_id = trials.run_id
        AND figures.scored_by = trials.metric
        AND figures.filter IS NOT DISTINCT FROM trials.filter
    LEFT JOIN trials AS divisors
        ON figures.run_id = divisors.run_id
        AND figures.per = divisors.metric
        AND figures.filter IS NOT DISTINCT FROM divisors.filter
        AND trials.attempt = divisors.attempt
    WHERE figures.variants IS NULL AND figures.reason IS NULL
    UNION ALL
    SELECT
        run_id, content_id, attempt,
        count(amount) AS n_tasks,
        ordered_sum(list(amount ORDER BY instance) FILTER (amount IS NOT NULL)) / sum(n_values)
            AS figure
    FROM variants
    GROUP BY run_id, content_id, attempt
),

recomputed AS (
    SELECT
        run_id, content_id,
        ordered_mean(list(figure ORDER BY attempt) FILTER (figure IS NOT NULL)) AS figure,
        max(n_tasks) AS n_tasks
    FROM of_trials
    GROUP BY run_id, content_id
)

SELECT
    figures.suite,
    figures.run_id,
    figures.provider,
    figures.model,
    settings_text(figures.settings) AS settings,
    figures.task_set,
    figures.task_group,
    figures.scorer,
    figures.metric,
    figures.scored_by AS score,
    figures.filter,
    figures.statistic,
    figures.reducer,
    figures.reducer_parameters,
    figures.seq,
    figures.content_id AS reported_id,
    coalesce(figures.value, try_cast(figures.text AS DOUBLE)) AS reported,
    coalesce(figures.text, CAST(figures.value AS VARCHAR)) AS reported_text,
    recomputed.figure AS recomputed,
    false AS is_short,
    figures.n AS n_reported,
    coalesce(parts.n_stored, sizes.n_stored, 0) AS n_stored,
    recomputed.n_tasks AS n,
    CASE
        WHEN figures.reason IS NOT NULL THEN figures.reason
        -- With samples missing, that is what there is to say.
        WHEN coalesce(figures.n, 1) > coalesce(parts.n_stored, sizes.n_stored, 0) THEN NULL
        WHEN recomputed.figure IS NULL THEN 'no scores of that name'
    END AS reason
FROM figures
LEFT JOIN sizes ON figures.run_id = sizes.run_id
LEFT JOIN parts
    ON figures.run_id = parts.run_id
    AND figures.filter IS NOT DISTINCT FROM parts.filter
LEFT JOIN recomputed
    ON figures.run_id = recomputed.run_id
    AND figures.content_id = recomputed.content_id
