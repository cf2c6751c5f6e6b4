-- Each figure that a log reports next to the same statistic of the scores in the store. The standard
-- error of a figure is a figure of its own, with the statistic stderr.
-- grain: reported figure × statistic
-- inherits: reported_metrics
-- reported: the figure, which may be infinite or not a number; NULL if it is text
-- reported_text: the figure as text
-- recomputed: the statistic of the scores; NULL if it cannot be computed
-- n_reported: tasks behind the figure, as reported; calls, where some of a task's epochs are missing
-- n_stored: tasks in the store that the figure covers, with or without a score; calls, with the
--     reducer none and where epochs are missing
-- n: tasks behind recomputed: those with a score; with the reducer none scores
-- is_short: whether the run lacks epochs of its tasks, and the figure does not follow from the others
-- reason: why the figure cannot be computed from scores; NULL if it can
WITH reported AS (
    SELECT
        reported_metrics.* EXCLUDE (stderr, stderr_method),
        false AS is_error,
        NULL AS error_of_group,
        coalesce(reducer, 'mean') AS way,
        try_cast(reducer_parameters ->> '$.k' AS BIGINT) AS k
    FROM reported_metrics
    ANTI JOIN (FROM suite_traits WHERE own_audit IS NOT NULL) USING (suite)
    WHERE source = 'log'
    UNION ALL
    SELECT
        reported_metrics.* EXCLUDE (stderr, stderr_method) REPLACE (
            stderr AS value,
            NULL AS text,
            'stderr' AS statistic,
            coalesce(
                CASE WHEN stderr_method = 'bootstrap' THEN 'random bootstrap' END,
                reason,
                CASE
                    WHEN stderr_method IS NULL THEN 'how the error was estimated is not recorded'
                    WHEN stderr_method IN ('pooled', 'independent') AND task_sets IS NOT NULL
                        AND statistic IN ('mean', 'macro_mean') THEN NULL
                    WHEN stderr_method <> 'sample' THEN stderr_method || ' standard error'
                    WHEN statistic <> 'mean' THEN 'not the standard error of a mean'
                END
            ) AS reason
        ),
        true,
        CASE WHEN stderr_method IN ('pooled', 'independent') THEN stderr_method END,
        coalesce(reducer, 'mean'),
        try_cast(reducer_parameters ->> '$.k' AS BIGINT)
    FROM reported_metrics
    ANTI JOIN (FROM suite_traits WHERE own_audit IS NOT NULL) USING (suite)
    WHERE source = 'log' AND stderr IS NOT NULL
),

figures AS (
    SELECT
        * REPLACE (
            CASE
                WHEN reason IS NOT NULL THEN reason
                WHEN statistic IS NULL THEN 'how it follows from the scores is not recorded'
                WHEN statistic NOT IN (
                    'mean', 'stderr', 'std', 'var', 'sum', 'min', 'max', 'median', 'count',
                    'median_high', 'macro_mean', 'ratio', 'perplexity', 'bits'
                ) THEN 'unknown statistic ' || statistic
                WHEN statistic IN ('ratio', 'perplexity', 'bits')
                    AND json_extract_string(reducer_parameters, '$.per') IS NULL
                    THEN 'what the scores are divided by is not recorded'
                WHEN way NOT IN (
                    'none', 'mean', 'median', 'max', 'mode', 'majority', 'at_least_k', 'pass_at_k',
                    'pass^k'
                ) THEN 'unknown reducer ' || way
                WHEN way IN ('at_least_k', 'pass_at_k', 'pass^k') AND k IS NULL
                    THEN 'the k of the reducer is not recorded'
                WHEN coalesce(task_group, CASE statistic WHEN 'macro_mean' THEN '' END) IS NOT NULL
                    AND task_sets IS NULL AND (reducer_parameters ->> '$.by') IS NULL
                    THEN 'the tasks of the group are not recorded'
            END AS reason
        ),
        -- The field of a call by which its task belongs to a group or a cluster.
        coalesce(reducer_parameters ->> '$.by', reducer_parameters ->> '$.cluster') AS field,
        (reducer_parameters ->> '$.cluster') IS NOT NULL AS is_clustered
    FROM reported
),

-- Only the results and scores of runs whose logs report figures.
calls AS (
    SELECT
        suite, run_id, result_id, provider, model, recorded_model, settings, task_set, task_id,
        attempt, seq, success, e2e_ms, input_tokens, output_tokens, cost_usd, extra
    FROM results
    SEMI JOIN figures USING (suite, run_id)
),

scopes AS (
    SELECT
        suite, run_id, provider, model, recorded_model, settings, task_set,
        count(DISTINCT task_id) AS n_tasks,
        count(*) AS n_calls
    FROM calls
    GROUP BY ALL
),

scoped AS (
    SELECT
        figures.suite, figures.run_id, figures.reported_id, figures.is_error,
        sum(scopes.n_tasks) AS n_tasks,
        sum(scopes.n_calls) AS n_calls
    FROM figures
    JOIN scopes
        ON figures.suite = scopes.suite
        AND figures.run_id = scopes.run_id
        AND (figures.model IS NULL OR figures.model IN (scopes.model, scopes.recorded_model))
        AND (figures.settings IS NULL OR figures.settings = scopes.settings)
        AND (figures.task_set IS NULL OR figures.task_set = scopes.task_set)
        AND (figures.task_sets IS NULL OR list_contains(figures.task_sets, scopes.task_set))
    GROUP BY figures.suite, figures.run_id, figures.reported_id, figures.is_error
),

-- Some logs state how often each task is asked.
epochs AS (
    SELECT
        suite,
        run_id,
        max(try_cast(config ->> '$.config.epochs' AS BIGINT)) AS n_epochs
    FROM lake.runs
    GROUP BY suite, run_id
),

-- Some tools report the number of calls, not of tasks.
covered AS (
    SELECT
        suite, run_id, reported_id, is_error,
        CASE WHEN figures.way = 'none' OR figures.n = n_calls THEN n_calls ELSE n_tasks END
            AS n_stored,
        CAST(n_calls AS BIGINT) AS n_calls,
        CASE WHEN figures.n IS NOT NULL AND n_tasks * epochs.n_epochs > n_calls
            THEN CAST(n_tasks * epochs.n_epochs AS BIGINT) END AS n_planned
    FROM scoped
    JOIN figures USING (suite, run_id, reported_id, is_error)
    LEFT JOIN epochs USING (suite, run_id)
),

-- Some figures add up what each call took instead of scores.
measures AS (
    SELECT suite, run_id, score AS metric
    FROM figures
    WHERE score LIKE 'results.%'
    UNION
    SELECT suite, run_id, json_extract_string(reducer_parameters, '$.per')
    FROM figures
    WHERE json_extract_string(reducer_parameters, '$.per') LIKE 'results.%'
),

measured AS (
    SELECT
        calls.* EXCLUDE (
            result_id, success, e2e_ms, input_tokens, output_tokens, cost_usd, extra
        ),
        measures.metric,
        CASE measures.metric
            WHEN 'results.success' THEN CAST(calls.success AS DOUBLE)
            WHEN 'results.e2e_ms' THEN calls.e2e_ms
            WHEN 'results.input_tokens' THEN calls.input_tokens
            WHEN 'results.output_tokens' THEN calls.output_tokens
            WHEN 'results.cost_usd' THEN calls.cost_usd
            ELSE try_cast(json_extract_string(
                calls.extra, replace(measures.metric, 'results.extra', '$')
            ) AS DOUBLE)
        END AS amount
    FROM calls
    JOIN measures USING (suite, run_id)
    UNION ALL
    SELECT
        calls.* EXCLUDE (
            result_id, success, e2e_ms, input_tokens, output_tokens, cost_usd, extra
        ),
        measures.metric,
        try_cast(json_extract_string(
            more.document,
            CASE measures.metric
                WHEN 'results.input_tokens' THEN '$.data.usage.prompt_tokens'
                WHEN 'results.output_tokens' THEN '$.data.usage.completion_tokens'
                ELSE replace(measures.metric, 'results.extra', '$')
            END
        ) AS DOUBLE) AS amount
    -- Calls behind the same result.
    FROM calls
    JOIN scores.openai_evals_calls AS more
        ON calls.suite = more.suite
        AND calls.run_id = more.run_id
        AND calls.task_id = more.task_id
    JOIN measures
        ON calls.suite = measures.suite
        AND calls.run_id = measures.run_id
),

scored AS (
    SELECT
        calls.* EXCLUDE (
            result_id, success, e2e_ms, input_tokens, output_tokens, cost_usd, extra
        ),
        scores.scorer,
        scores.metric,
        scores.filter,
        -- NaN is a score that was not given; infinity is one.
        nullif(coalesce(scores.value, try_cast(scores.text AS DOUBLE)), 'nan'::DOUBLE) AS amount,
        coalesce(scores.text, CAST(scores.value AS VARCHAR)) AS recorded,
        isnan(try_cast(scores.text AS DOUBLE)) AS is_nan,
        scores.value IS NULL AND scores.text IS NOT NULL
            AND try_cast(scores.text AS DOUBLE) IS NULL AS is_text
    FROM result_scores AS scores
    JOIN calls USING (suite, run_id, result_id)
    UNION ALL
    SELECT
        measured.* EXCLUDE (metric, amount),
        NULL AS scorer,
        measured.metric,
        NULL AS filter,
        measured.amount,
        CAST(measured.amount AS VARCHAR) AS recorded,
        false AS is_nan,
        false AS is_text
    FROM measured
),

tasks_scored AS (
    SELECT
        suite, run_id, provider, model, recorded_model, settings, task_set, scorer, metric, filter,
        task_id,
        coalesce(list(amount ORDER BY attempt, seq) FILTER (amount IS NOT NULL), []) AS amounts,
        list(recorded ORDER BY attempt, seq) FILTER (amount IS NOT NULL) AS records,
        count(*) FILTER (is_text) AS n_texts,
        count(*) FILTER (is_nan) AS n_nans
    FROM scored
    GROUP BY ALL
),

-- The group of each task, as its first call names it.
members AS (
    SELECT
        calls.suite, calls.run_id, calls.task_set, calls.task_id, fields.field,
        first(group_name(json_extract(calls.extra, fields.field)) ORDER BY attempt, seq) AS member
    FROM calls
    JOIN (
        SELECT DISTINCT suite, run_id, field
        FROM figures
        WHERE field IS NOT NULL AND reason IS NULL
    ) AS fields USING (suite, run_id)
    GROUP BY ALL
),

-- Fields by which the log has figures of groups without a sample: some samples were left out.
shortened AS (
    SELECT DISTINCT figures.suite, figures.run_id, figures.field
    FROM figures
    ANTI JOIN members
        ON figures.suite = members.suite
        AND figures.run_id = members.run_id
        AND figures.field = members.field
        AND figures.task_group = members.member
    WHERE figures.field IS NOT NULL AND figures.task_group IS NOT NULL AND figures.reason IS NULL
),

-- The scores behind each figure; those of each task reduced to one, unless each counts by itself.
behind AS (
    SELECT
        figures.suite, figures.run_id, figures.reported_id, figures.is_error,
        figures.task_sets IS NOT NULL OR figures.field IS NOT NULL AS has_parts,
        CASE WHEN figures.field IS NULL THEN tasks.task_set ELSE members.member END AS part,
        coalesce(figures.reducer_parameters ->> '$.of', 'mean') AS part_statistic,
        tasks.scorer,
        tasks.n_texts,
        tasks.n_nans,
        CASE
            WHEN figures.way = 'none' THEN tasks.amounts
            -- Scores are counted as recorded: two letters may have the same value. Each stands for
            -- the first that is recorded like it.
            WHEN figures.way IN ('mode', 'majority') THEN [tasks.amounts[CAST(reduced_score(
                list_transform(
                    tasks.records, lambda recorded: list_position(tasks.records, recorded)
                ), figures.way, NULL
            ) AS BIGINT)]]
            WHEN (figures.reducer_parameters ->> '$.pass') IS NOT NULL THEN [reduced_score(
                list_transform(
                    tasks.amounts,
                    lambda amount: CAST(
                        amount = CAST(figures.reducer_parameters ->> '$.pass' AS DOUBLE) AS DOUBLE
                    )
                ), figures.way, figures.k
            )]
            ELSE [reduced_score(tasks.amounts, figures.way, figures.k)]
        END AS amounts,
        struct_pack(tasks.task_set, tasks.task_id, tasks.model, tasks.settings) AS position
    FROM figures
    JOIN tasks_scored AS tasks
        ON figures.suite = tasks.suite
        AND figures.run_id = tasks.run_id
        AND figures.score = tasks.metric
        AND figures.filter IS NOT DISTINCT FROM tasks.filter
        AND (figures.model IS NULL OR figures.model IN (tasks.model, tasks.recorded_model))
        AND (figures.settings IS NULL OR figures.settings = tasks.settings)
        AND (figures.task_set IS NULL OR figures.task_set = tasks.task_set)
        AND (figures.task_sets IS NULL OR list_contains(figures.task_sets, tasks.task_set))
        AND (figures.scorer IS NULL OR figures.scorer = tasks.scorer)
    LEFT JOIN members
        ON figures.suite = members.suite
        AND figures.run_id = members.run_id
        AND figures.field = members.field
        AND tasks.task_set IS NOT DISTINCT FROM members.task_set
        AND tasks.task_id = members.task_id
    WHERE figures.reason IS NULL
        AND (
            figures.field IS NULL
            OR figures.task_group IS NULL
            OR figures.task_group = members.member
        )
),

series AS (
    SELECT
        suite, run_id, reported_id, is_error,
        list_filter(
            flatten(list(amounts ORDER BY position)), lambda amount: amount IS NOT NULL
        ) AS amounts,
        count(DISTINCT coalesce(scorer, '')) AS n_scorers,
        sum(n_texts) AS n_texts,
        sum(n_nans) AS n_nans
    FROM behind
    GROUP BY suite, run_id, reported_id, is_error
),

means AS (
    SELECT *, len(amounts) AS n_scored, ordered_mean(amounts) AS mean
    FROM series
),

statistics AS (
    SELECT
        *,
        CASE WHEN n_scored > 1
            THEN ordered_sum(list_transform(amounts, lambda amount: (amount - mean) ** 2)) / (n_scored - 1)
        END AS variance
    FROM means
),

-- Of the figures of groups: the scores of each task set, group or cluster in it.
parts AS (
    SELECT
        suite, run_id, reported_id, is_error, part,
        list_filter(
            flatten(list(amounts ORDER BY position)), lambda amount: amount IS NOT NULL
        ) AS counted,
        ordered_mean(counted) AS mean,
        ordered_sum(list_transform(counted, lambda amount: (amount - mean) ** 2)) AS squares,
        -- 0 for a group of one, as Inspect has it.
        coalesce(squares / nullif(len(counted) - 1, 0), 0) AS variance,
        CASE any_value(part_statistic)
            WHEN 'mean' THEN mean
            WHEN 'var' THEN variance
            WHEN 'std' THEN sqrt(variance)
            WHEN 'stderr' THEN sqrt(variance / len(counted))
        END AS figure
    FROM behind
    WHERE has_parts
    GROUP BY suite, run_id, reported_id, is_error, part
    HAVING len(counted) > 0
),

of_groups AS (
    SELECT
        suite, run_id, reported_id, is_error,
        ordered_mean(list(figure ORDER BY part)) AS macro_mean,
        -- The variance within the task sets, each with its own mean.
        ordered_sum(list(squares ORDER BY part)) / nullif(sum(len(counted)) - count(*), 0)
            AS pooled_variance,
        -- The variance of a mean of independent means; unknown if one of them is of one score.
        CASE WHEN min(len(counted)) > 1
            THEN ordered_sum(list(variance / len(counted) ORDER BY part)) / count(*) ** 2
        END AS variance_of_means,
        -- The squared standard error of the mean, times n², where only the clusters are
        -- independent, corrected for their number: https://arxiv.org/abs/2411.00640, appendix A.
        ordered_sum(list(
            ordered_sum(list_transform(counted, lambda amount: amount - means.mean)) ** 2
            ORDER BY part
        )) * count(*) / nullif(count(*) - 1, 0) AS clustered_square
    FROM parts
    JOIN means USING (suite, run_id, reported_id, is_error)
    GROUP BY suite, run_id, reported_id, is_error
),

-- Of ratios: the sum of the scores that those of the figure are divided by.
divisors AS (
    SELECT
        figures.suite, figures.run_id, figures.reported_id, figures.is_error,
        nullif(ordered_sum(
            list(
                CASE figures.way
                    WHEN 'none' THEN ordered_sum(tasks.amounts)
                    ELSE ordered_mean(tasks.amounts)
                END
                ORDER BY
                struct_pack(tasks.task_set, tasks.task_id, tasks.model, tasks.settings)
            ) FILTER (len(tasks.amounts) > 0)
        ), 0) AS divisor
    FROM figures
    JOIN tasks_scored AS tasks
        ON figures.suite = tasks.suite
        AND figures.run_id = tasks.run_id
        AND json_extract_string(figures.reducer_parameters, '$.per') = tasks.metric
        AND figures.filter IS NOT DISTINCT FROM tasks.filter
        AND (figures.task_set IS NULL OR figures.task_set = tasks.task_set)
    WHERE figures.statistic IN ('ratio', 'perplexity', 'bits')
    GROUP BY figures.suite, figures.run_id, figures.reported_id, figures.is_error
)

SELECT
    figures.suite,
    figures.run_id,
    figures.provider,
    figures.model,
    figures.settings,
    figures.task_set,
    figures.task_group,
    figures.scorer,
    figures.metric,
    figures.score,
    figures.filter,
    figures.statistic,
    figures.reducer,
    figures.reducer_parameters,
    figures.seq,
    figures.reported_id,
    coalesce(figures.value, try_cast(figures.text AS DOUBLE)) AS reported,
    coalesce(figures.text, CAST(figures.value AS VARCHAR)) AS reported_text,
    CASE
        WHEN n_scorers > 1 OR n_texts > 0 THEN NULL
        -- Some tools leave out scores of NaN, others compute with them.
        WHEN n_nans > 0 AND isnan(reported)
            AND figures.statistic IN ('mean', 'macro_mean', 'sum', 'var', 'std', 'stderr')
            THEN 'nan'::DOUBLE
        ELSE CASE figures.statistic
            WHEN 'count' THEN n_scored
            -- What calls took and nothing is known of is reported as 0.
            WHEN 'sum' THEN CASE
                WHEN n_scored > 0 THEN ordered_sum(amounts)
                WHEN figures.score LIKE 'results.%' THEN 0
            END
            WHEN 'mean' THEN mean
            WHEN 'macro_mean' THEN of_groups.macro_mean
            WHEN 'ratio' THEN ordered_sum(amounts) / divisor
            WHEN 'perplexity' THEN exp(-ordered_sum(amounts) / divisor)
            WHEN 'bits' THEN -ordered_sum(amounts) / divisor / ln(2)
            WHEN 'median' THEN list_median(amounts)
            WHEN 'median_high' THEN list_sort(amounts)[n_scored // 2 + 1]
            WHEN 'min' THEN list_min(amounts)
            WHEN 'max' THEN list_max(amounts)
            WHEN 'var' THEN variance
            WHEN 'std' THEN sqrt(variance)
            WHEN 'stderr' THEN CASE
                WHEN figures.is_clustered THEN sqrt(of_groups.clustered_square) / n_scored
                WHEN figures.error_of_group = 'pooled'
                    THEN sqrt(of_groups.pooled_variance / n_scored)
                WHEN figures.error_of_group = 'independent' THEN sqrt(of_groups.variance_of_means)
                ELSE sqrt(variance / n_scored)
            END
        END
    END AS recomputed,
    -- If the figure follows from the epochs that are there, it is about them.
    coalesce(
        figures.reason IS NULL
        AND coalesce(figures.n, 1) <= coalesce(covered.n_stored, 0)
        AND covered.n_planned IS NOT NULL AND n_scored > 0
        AND NOT is_same_figure(reported, recomputed),
        false
    ) AS is_short,
    CASE WHEN is_short THEN covered.n_planned ELSE figures.n END AS n_reported,
    CASE
        WHEN is_short THEN covered.n_calls ELSE CAST(coalesce(covered.n_stored, 0) AS BIGINT)
    END AS n_stored,
    CASE WHEN n_scorers = 1 THEN n_scored END AS n,
    CASE
        WHEN figures.reason IS NOT NULL THEN figures.reason
        -- With samples missing, that is what there is to say.
        WHEN is_short OR coalesce(figures.n, 1) > coalesce(covered.n_stored, 0) THEN NULL
        WHEN n_scored IS NULL AND figures.field IS NOT NULL
            THEN 'the samples of the group are not recorded'
        WHEN n_scored IS NULL THEN 'no scores of that name'
        WHEN n_scorers > 1 THEN 'scores of several scorers'
        WHEN n_texts > 0 THEN 'scores that are not numbers'
        -- JSON may have null for NaN.
        WHEN figures.suite IN (SELECT suite FROM suite_traits WHERE counts_nan)
            AND n_scored < figures.n
            AND coalesce(isnan(reported), figures.text IS NULL)
            THEN 'a score is not a number'
        WHEN figures.statistic IN ('var', 'std', 'stderr') AND n_scored < 2
            AND recomputed IS NULL
            OR figures.error_of_group = 'pooled' AND of_groups.pooled_variance IS NULL
            OR figures.error_of_group = 'independent' AND of_groups.variance_of_means IS NULL
            THEN 'undefined for fewer than two scored tasks'
        WHEN shortened.field IS NOT NULL AND NOT is_same_figure(reported, recomputed)
            THEN 'the samples of some groups are not recorded'
        WHEN figures.is_clustered AND of_groups.clustered_square IS NULL
            THEN 'undefined for fewer than two clusters'
        WHEN figures.n < covered.n_stored AND figures.way = 'none' AND figures.statistic = 'sum'
            THEN concat('reported when the run had ', figures.n, ' of ', covered.n_stored, ' calls')
        WHEN figures.statistic <> 'count' AND n_scored = 0 AND figures.score NOT LIKE 'results.%'
            THEN 'no scored tasks'
        WHEN figures.statistic IN ('ratio', 'perplexity', 'bits') AND divisor IS NULL
            THEN 'no scores to divide by'
    END AS reason
FROM figures
LEFT JOIN covered USING (suite, run_id, reported_id, is_error)
LEFT JOIN statistics USING (suite, run_id, reported_id, is_error)
LEFT JOIN of_groups USING (suite, run_id, reported_id, is_error)
LEFT JOIN divisors USING (suite, run_id, reported_id, is_error)
LEFT JOIN shortened USING (suite, run_id, field)
UNION ALL
SELECT
    suite, run_id, provider, model, settings, task_set, task_group, scorer, metric, score, filter,
    statistic, reducer, reducer_parameters, seq, reported_id, reported, reported_text, recomputed,
    is_short, n_reported, n_stored, n, reason
FROM scores.helm_pairs
UNION ALL
SELECT
    suite, run_id, provider, model, settings, task_set, task_group, scorer, metric, score, filter,
    statistic, reducer, reducer_parameters, seq, reported_id, reported, reported_text, recomputed,
    is_short, n_reported, n_stored, n, reason
FROM scores.vote_pairs
