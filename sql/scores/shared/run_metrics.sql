-- The figures of each model in each run of a task set, by every metric that its results have, as sync keeps
-- them, so that boards do not read the tasks. Verdicts of tasks that were asked once are not here, as their
-- figures are in entry_rates, and most runs have no others.
-- board
-- by_run: scores.recorded_attempts, scores.task_rates, scores.entry_rates
-- grain: run × provider × model × settings × task set × scorer × metric × filter × reducer × k
-- inherits: lake.result_scores, scores.setups
-- reducer: how the attempts at a task become one value: mean, median, max, mode (the most frequent
--     value, the first of several), majority (the value of more than half of them, else none); and,
--     where every score is from 0 to 1 and 1 is a pass: at_least_k (1 if k or more passed, else 0),
--     pass_at_k (probability that one of k passes: 1 - C(n - c, k) / C(n, k), with c of n passed) and
--     pass^k (probability that all of k pass: C(c, k) / C(n, k)); the last two need n >= k
-- k: attempts allowed, NULL for other reducers: 1 to 10, then 16, 20, 25, 32, 50, 64, 100, 128, 200,
--     256, 500, 512 and 1000 up to the most attempts at a task, and that number
-- n_tasks: tasks behind the figure
-- n_results: attempts with a number at all tasks
-- n_unscored: tasks with a score, but without a value
-- mean: mean of the tasks' values; NULL if there are none
-- mean_low: lower end of the 95 % interval of the mean; see interval_method
-- mean_high: upper end of the 95 % interval of the mean; see interval_method
-- interval_method: wilson where each score is 0 or 1: for the number of tasks, narrower for the reducer
--     mean where repeated attempts add information; wilson_scores where each is from 0 to 1, or where
--     they are percentages (suite_traits): for as many trials as their variance is worth, see effective_tasks;
--     else student_t: the mean ± the 97.5 % quantile of Student's t with n_tasks - 1 degrees of freedom ×
--     stderr, which can go beyond the possible values, and none where all values are equal; clustered where tasks
--     depend on each other, see clustered_interval, or of scores of other scales Student's t over the
--     clusters; corrected, votes: see docs/judges.md; NULL without an interval
-- stderr: standard error of the mean: the standard deviation over the tasks (ddof 1) / sqrt(n_tasks);
--     NULL for a single task, of votes, and of a corrected figure that labels alone make
-- median: median of the tasks' values
-- min: smallest of the tasks' values
-- max: largest of the tasks' values
-- n_clusters: clusters of the tasks; NULL where no two of them are known to depend on each other
-- is_verdict: whether verdicts are behind the figure
WITH recorded AS MATERIALIZED (
    SELECT
        attempts.*,
        if(list_contains(traits.percent_metrics, metric), 100, 1) AS largest
    FROM scores.recorded_attempts AS attempts
    LEFT JOIN suite_traits AS traits USING (suite)
),

attempts AS (
    -- Reducers are applied once to the tasks of a figure that scored the same: `kinds`. The values of the tasks, in
    -- the order of the tasks, are then looked up; of verdicts, which are far more, each value with its number of
    -- tasks.
    SELECT
        *,
        hash(entry, text_hash(scorer), text_hash(metric), text_hash(filter)) AS figure,
        hash(n_attempts, scored) AS kind
    FROM (
        SELECT
            suite,
            run_id,
            entry,
            NULL AS scorer,
            'passed' AS metric,
            NULL AS filter,
            NULL AS task_id,
            rated.key.n_attempts,
            attempts_of(rated.key.n_attempts, rated.key.n_passed, rated.key.first_passed) AS scored,
            CAST(rated.value AS BIGINT) AS n_alike,
            1 AS largest,
            true AS is_verdict
        FROM (
            SELECT suite, run_id, entry, unnest(map_entries(kinds)) AS rated
            FROM scores.entry_rates
            WHERE
                is_repeated
                OR pass_rate IS NULL
                -- Tasks without a verdict may have a score of its name.
                OR entry IN (
                    SELECT entry
                    FROM recorded
                    WHERE metric = 'passed' AND scorer IS NULL AND filter IS NULL
                )
        ) AS rates
        UNION ALL
        SELECT
            suite,
            run_id,
            entry,
            scorer,
            metric,
            filter,
            task_id,
            n_attempts,
            listed,
            1,
            largest,
            false
        FROM recorded
    ) AS scored
),

kinds AS (
    SELECT
        figure,
        kind,
        any_value(suite) AS suite,
        any_value(run_id) AS run_id,
        any_value(entry) AS entry,
        any_value(scorer) AS scorer,
        any_value(metric) AS metric,
        any_value(filter) AS filter,
        any_value(n_attempts) AS n_attempts,
        any_value(scored) AS scored,
        any_value(largest) AS largest,
        bool_or(is_verdict) AS is_verdict,
        CAST(sum(n_alike) AS BIGINT) AS n_alike,
        row_number() OVER (PARTITION BY figure ORDER BY kind) AS place
    FROM attempts
    GROUP BY figure, kind
),

tasks AS (
    SELECT
        kinds.figure,
        list(kinds.place ORDER BY attempts.task_id, kinds.place) AS places,
        list(attempts.n_alike ORDER BY attempts.task_id, kinds.place) AS weights
    FROM attempts
    JOIN kinds
        ON attempts.figure = kinds.figure
        AND attempts.kind = kinds.kind
    GROUP BY kinds.figure
),

-- Where tasks depend on each other, each of them counts by itself.
dependent AS (
    SELECT
        kinds.figure,
        list(kinds.place ORDER BY scored.task_id) AS places,
        list(coalesce(clusters.cluster, scored.task) ORDER BY scored.task_id) AS units
    FROM (
        SELECT
            suite,
            task_set,
            entry,
            NULL AS scorer,
            'passed' AS metric,
            NULL AS filter,
            task_id,
            task,
            n_trials AS n_attempts,
            attempts_of(n_trials, n_trials_passed, is_first_passed) AS scored
        FROM scores.task_rates
        WHERE is_judged AND n_trials > 0
        UNION ALL
        SELECT suite, task_set, entry, scorer, metric, filter, task_id, task, n_attempts, listed
        FROM recorded
    ) AS scored
    SEMI JOIN (FROM scores.task_clusters WHERE NOT is_copy) AS sets
        ON scored.suite = sets.suite
        AND scored.task_set = sets.task_set
    JOIN kinds
        ON hash(scored.entry, text_hash(scored.scorer), text_hash(scored.metric), text_hash(scored.filter))
            = kinds.figure
        AND hash(scored.n_attempts, scored.scored) = kinds.kind
    LEFT JOIN scores.task_clusters AS clusters ON scored.task = clusters.task
    GROUP BY kinds.figure
),

figures AS (
    SELECT
        figure,
        any_value(suite) AS suite,
        any_value(run_id) AS run_id,
        any_value(entry) AS entry,
        any_value(scorer) AS scorer,
        any_value(metric) AS metric,
        any_value(filter) AS filter,
        max(n_attempts) AS n_attempts,
        CAST(sum(len(scored) * n_alike) AS BIGINT) AS n_results,
        CAST(sum(n_alike) AS BIGINT) AS n_all_tasks,
        bool_and(len(list_filter(scored, lambda score: score NOT IN (0, 1))) = 0) AS is_binary,
        CASE
            WHEN bool_and(len(list_filter(scored, lambda score: score NOT BETWEEN 0 AND largest)) = 0)
                THEN any_value(largest)
        END AS scale,
        scale IS NOT DISTINCT FROM 1 AS is_share,
        bool_or(is_verdict) AS is_verdict,
        list(n_alike ORDER BY place) AS n_alike
    FROM kinds
    GROUP BY figure
),

reducers AS (
    SELECT
        n_attempts,
        is_share,
        CASE
            WHEN n_attempts = 1 THEN [{reducer: 'mean', k: NULL::INTEGER}]
            ELSE list_concat(
                list_transform(
                    ['mean', 'median', 'max', 'mode', 'majority'],
                    lambda name: {reducer: name, k: NULL::INTEGER}
                ),
                flatten(list_transform(
                    CASE WHEN is_share THEN numbers_of_attempts(n_attempts) ELSE [] END,
                    lambda allowed: [
                        {reducer: 'at_least_k', k: allowed},
                        {reducer: 'pass_at_k', k: allowed},
                        {reducer: 'pass^k', k: allowed}
                    ]
                ))
            )
        END AS reducers
    FROM (SELECT DISTINCT n_attempts, is_share FROM figures) AS figures
),

-- Of ten thousand figures most have the same few kinds, each of which is reduced once, by all reducers.
amounts AS (
    SELECT
        kinds.kind,
        kinds.n_attempts,
        kinds.is_share,
        list_transform(reducers, lambda each: reduced_score(scored, each.reducer, each.k)) AS amounts
    FROM (
        SELECT DISTINCT kinds.kind, kinds.scored, figures.n_attempts, figures.is_share
        FROM kinds
        JOIN figures ON kinds.figure = figures.figure
    ) AS kinds
    JOIN reducers
        ON kinds.n_attempts = reducers.n_attempts
        AND kinds.is_share = reducers.is_share
),

listed AS (
    SELECT kinds.figure, list(amounts.amounts ORDER BY kinds.place) AS amounts
    FROM kinds
    JOIN figures ON kinds.figure = figures.figure
    JOIN amounts
        ON kinds.kind = amounts.kind
        AND figures.n_attempts = amounts.n_attempts
        AND figures.is_share = amounts.is_share
    GROUP BY kinds.figure
),

-- One value for each kind of task.
reduced AS (
    SELECT
        * EXCLUDE (amounts),
        list_transform(amounts, lambda each: each[position]) AS amounts
    FROM (
        SELECT
            figures.*,
            unnest(reducers, recursive := true),
            generate_subscripts(reducers, 1) AS position,
            listed.amounts
        FROM figures
        JOIN reducers USING (n_attempts, is_share)
        JOIN listed USING (figure)
    ) AS unnested
),

counted AS (
    SELECT
        reduced.*,
        tasks.weights,
        list_select(amounts, tasks.places) AS in_order,
        CAST(coalesce(list_sum(list_transform(
            amounts, lambda amount, i: CASE WHEN amount IS NOT NULL THEN n_alike[i] END
        )), 0) AS BIGINT) AS n_tasks,
        -- A sum of these does not depend on the order, and needs no list.
        CASE
            WHEN len(list_filter(amounts, lambda amount: amount NOT IN (0, 1))) = 0
                THEN CAST(coalesce(list_sum(list_transform(
                    amounts, lambda amount, i: CASE WHEN amount = 1 THEN n_alike[i] END
                )), 0) AS BIGINT)
        END AS n_ones
    FROM reduced
    JOIN tasks USING (figure)
),

averaged AS (
    SELECT
        *,
        coalesce(n_ones, list_aggregate(list_transform(
            in_order, lambda amount, i: amount * weights[i]
        ), 'fsum')) / nullif(n_tasks, 0) AS mean,
        CASE
            WHEN n_ones IS NULL THEN weighted_median(in_order, weights)
            WHEN n_tasks > 0 THEN (sign(2 * n_ones - n_tasks) + 1) / 2
        END AS median
    FROM counted
),

spread AS (
    SELECT
        *,
        CASE
            WHEN n_ones IS NULL THEN list_aggregate(list_transform(
                in_order, lambda amount, i: (amount - mean) ** 2 * weights[i]
            ), 'fsum')
            ELSE mean * (n_tasks - n_ones)
        END / nullif(n_tasks - 1, 0) AS variance,
        CASE
            WHEN scale IS NULL THEN NULL
            WHEN n_ones IS NOT NULL AND reducer <> 'mean' THEN n_tasks
            ELSE effective_tasks(
                n_tasks,
                if(is_binary AND reducer = 'mean', n_results, 'inf'::DOUBLE),
                mean / scale * n_tasks,
                list_aggregate(list_transform(
                    in_order, lambda amount, i: (amount / scale) ** 2 * weights[i]
                ), 'fsum')
            )
        END AS n_effective,
        student_quantile(n_tasks - 1) * sqrt(variance / n_tasks) AS margin
    FROM averaged
),

-- Of task sets with tasks that depend on each other.
clustered AS (
    SELECT
        figure,
        reducer,
        k,
        list(amount ORDER BY unit) AS sums,
        list(n_tasks ORDER BY unit) AS sizes
    FROM (
        SELECT
            figure,
            reducer,
            k,
            unit,
            list_aggregate(list(amount ORDER BY position), 'fsum') AS amount,
            count(*) AS n_tasks
        FROM (
            SELECT
                counted.figure,
                counted.reducer,
                counted.k,
                unnest(dependent.units) AS unit,
                unnest(list_select(counted.amounts, dependent.places)) AS amount,
                generate_subscripts(dependent.units, 1) AS position
            FROM counted
            JOIN dependent USING (figure)
        ) AS listed
        WHERE amount IS NOT NULL
        GROUP BY figure, reducer, k, unit
    ) AS units
    GROUP BY figure, reducer, k
    HAVING count(*) < sum(n_tasks)
),

ended AS (
    SELECT
        spread.*,
        len(sizes) AS n_clusters,
        mean_interval(scale, mean, n_effective, margin, sums, sizes) AS ends
    FROM spread
    LEFT JOIN clustered
        ON spread.figure = clustered.figure
        AND spread.reducer = clustered.reducer
        AND spread.k IS NOT DISTINCT FROM clustered.k
)

SELECT
    suite,
    run_id,
    entry,
    scorer,
    metric,
    filter,
    reducer,
    k,
    n_tasks,
    n_results,
    n_all_tasks - n_tasks AS n_unscored,
    mean,
    ends[1] AS mean_low,
    ends[2] AS mean_high,
    CASE
        WHEN ends[1] IS NULL THEN NULL
        WHEN n_clusters IS NOT NULL THEN 'clustered'
        WHEN is_binary THEN 'wilson'
        WHEN scale IS NOT NULL THEN 'wilson_scores'
        ELSE 'student_t'
    END AS interval_method,
    sqrt(variance / n_tasks) AS stderr,
    median,
    list_min(amounts) AS min,
    list_max(amounts) AS max,
    n_clusters,
    is_verdict
FROM ended
