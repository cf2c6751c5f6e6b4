-- Where the noise in the scores of a task set is, its models taken out: in the tasks, in repeated attempts, in
-- other runs, prompt templates or judges. Of each model, its run on the leaderboard counts, with the other runs
-- that asked it the same tasks. Estimates are unbiased, so that one of a variance near 0 may be negative.
-- grain: suite × task set × scorer × metric × filter
-- inherits: metrics
-- blocks: suite, task_set
-- first: metric, scorer, variance, attempt_share, run_variance, run_p, n_models, n_tasks, n_attempts
-- n_models: models (provider × model × settings) behind the figures of tasks and attempts: those with two
--     attempts at a task, if there are any
-- n_tasks: most tasks that one of them has a score of
-- n_attempts: harmonic mean of the attempts at a task
-- attempts_from: `run`: attempts are of one run; `runs`: no run repeats a task, and an attempt is the answer
--     of another run by the same template; NULL without any
-- variance: of one answer of a model to a task drawn at random, the mean over the models; NULL for one task
-- task_variance: of a model's true score between tasks; NULL without repeated attempts
-- attempt_variance: of a model's answers to the same task; NULL without repeated attempts
-- attempt_share: attempt_variance / variance, at most 1
-- attempt_share_low, attempt_share_high: 95 % interval of attempt_share by tasks, see ratio_interval; NULL
--     below 20 tasks, and where no attempts differ
-- run_variance: of what another run shifts a model's whole score by, which no number of tasks averages out;
--     NULL without two runs that share six tasks
-- n_run_pairs: pairs of successive runs of a model behind it, by the same prompt template
-- run_p: probability of mean differences as large by chance, if no run shifted anything (chi-square,
--     with fewer degrees of freedom for pairs that share a run)
-- template_variance: the same as run_variance of successive runs by different prompt templates, which are
--     other runs, too
-- n_template_pairs: pairs of runs behind it
-- template_p: the same as run_p
-- judge_variance: of what another judge of the same answers, on the same scale, shifts a model's score by
-- n_judge_pairs: pairs of judges of a model's answers behind it
-- judge_p: the same as run_p
WITH templates AS (
    SELECT
        suite,
        run_id,
        coalesce(string_agg(DISTINCT template_hash, ' ' ORDER BY template_hash), '') AS template
    FROM lake.runs
    GROUP BY suite, run_id
),

peers AS (
    SELECT
        sets.entry,
        board.entry AS unit,
        times.position,
        templates.template,
        templates.template = max(CASE WHEN sets.entry = board.entry THEN templates.template END)
            OVER (PARTITION BY board.entry) AS has_template_of_board
    FROM scores.board_runs AS board
    JOIN scores.asked_sets AS own ON board.entry = own.entry
    JOIN scores.entries AS entries ON board.series = entries.series
    JOIN scores.asked_sets AS sets
        ON entries.entry = sets.entry
        AND own.task_set IS NOT DISTINCT FROM sets.task_set
        AND own.asked = sets.asked
    JOIN scores.run_times AS times
        ON sets.suite = times.suite
        AND sets.run_id = times.run_id
    JOIN templates
        ON sets.suite = templates.suite
        AND sets.run_id = templates.run_id
),

answers AS (
    SELECT
        {
            suite: tasks.suite,
            task_set: tasks.task_set,
            scorer: tasks.scorer,
            metric: tasks.metric,
            filter: tasks.filter
        } AS board,
        tasks.entry,
        tasks.task,
        peers.* EXCLUDE (entry),
        coalesce(list_contains(judges.names, tasks.scorer), false) AS is_judged,
        copies.task IS NULL AS is_own,
        coalesce(
            tasks.listed, attempts_of(tasks.n_attempts, tasks.n_passed, tasks.first_passed)
        ) AS scored,
        ordered_mean(scored) AS score
    FROM scores.task_attempts AS tasks
    JOIN peers ON tasks.entry = peers.entry
    -- A call that two runs have is no second answer.
    LEFT JOIN (
        SELECT entry, task FROM scores.task_facts WHERE n_counted < n_results
        UNION
        SELECT entry, task FROM scores.completions
    ) AS copies
        ON tasks.entry = copies.entry
        AND tasks.task = copies.task
    -- Judges by a criterion can be compared if all have one scale.
    LEFT JOIN (
        SELECT
            coalesce(rated_suite, suite) AS result_suite,
            criterion,
            list(DISTINCT rater_name(rater, rater_kind, rater_config)) AS names
        FROM lake.ratings
        WHERE rater_kind = 'judge'
        GROUP BY result_suite, criterion
        HAVING count(DISTINCT (scale_low, scale_high)) = 1
    ) AS judges
        ON tasks.suite = judges.result_suite
        AND tasks.metric = judges.criterion
    LEFT JOIN suite_traits AS traits ON tasks.suite = traits.suite
    WHERE is_headline(tasks.metric, traits.headline_metrics, traits.minor_metrics)
        AND len(scored) > 0
),

-- The attempts of the run on the board, or, where no run repeats a task, those of all its peers.
pooled AS (
    SELECT
        board,
        unit,
        task,
        is_of_run,
        flatten(list(scored ORDER BY position)) AS attempts,
        len(attempts) AS n_attempts,
        ordered_mean(attempts) AS score,
        list_var_samp(attempts) AS own_variance
    FROM (
        SELECT
            *,
            max(len(scored)) FILTER (entry = unit) OVER (PARTITION BY board) > 1 AS is_of_run
        FROM answers
    )
    WHERE entry = unit OR (NOT is_of_run AND is_own AND has_template_of_board)
    GROUP BY board, unit, task, is_of_run
),

units AS (
    SELECT
        board,
        unit,
        count(*) AS n_tasks,
        exact_mean(score) AS mean,
        exact_mean(own_variance) AS within
    FROM pooled
    GROUP BY board, unit
),

-- The variance of an answer at each task: of its squared deviation, what attempts add is taken off.
spread AS (
    SELECT
        *,
        (score - mean) ** 2 * n_tasks / nullif(n_tasks - 1, 0)
            + coalesce(attempt_variance * (1 - 1 / n_attempts), 0) AS variance
    FROM (
        SELECT
            pooled.*,
            units.n_tasks,
            units.mean,
            coalesce(pooled.own_variance, units.within) AS attempt_variance,
            max(units.within) OVER (PARTITION BY pooled.board) AS any_within
        FROM pooled
        JOIN units
            ON pooled.board = units.board
            AND pooled.unit = units.unit
    )
    WHERE any_within IS NULL OR attempt_variance IS NOT NULL
),

parts AS (
    SELECT
        board,
        max(n_units) AS n_models,
        max(n_tasks) AS n_tasks,
        rounded(exact_sum(n_answers) / exact_sum(reciprocals), 9) AS n_attempts,
        bool_or(is_of_run) AS is_of_run,
        exact_sum(variance) / exact_sum(n_answers) AS variance,
        exact_sum(attempt_variance) / exact_sum(n_answers) AS attempt_variance,
        ratio_interval({
            n: count(*),
            n_counted: count(*) FILTER (variance > 0),
            amount: exact_sum(attempt_variance),
            total: exact_sum(variance),
            amount_squares: exact_sum(attempt_variance ** 2),
            products: exact_sum(attempt_variance * variance),
            squares: exact_sum(variance ** 2)
        }) AS share_ends
    FROM (
        SELECT
            board,
            task,
            count(*)::DOUBLE AS n_answers,
            max(n_tasks) AS n_tasks,
            bool_or(is_of_run) AS is_of_run,
            exact_sum(1 / n_attempts) AS reciprocals,
            exact_sum(variance) AS variance,
            exact_sum(attempt_variance) AS attempt_variance
        FROM spread
        GROUP BY board, task
    )
    LEFT JOIN (
        SELECT board, count(DISTINCT unit) AS n_units
        FROM spread
        GROUP BY board
    ) USING (board)
    GROUP BY board
),

-- Two runs of a model next to each other in time, and each judge next to any other.
pairs AS (
    SELECT
        board,
        if(template = lag(template) OVER of_task, 'run', 'template') AS kind,
        unit,
        task,
        xor(entry, lag(entry) OVER of_task) AS pair,
        score - lag(score) OVER of_task AS difference
    FROM answers
    WHERE is_own
    WINDOW of_task AS (PARTITION BY board, unit, task ORDER BY position)
    UNION ALL
    SELECT
        ours.board,
        'judge' AS kind,
        ours.unit,
        ours.task,
        text_hash(others.board.scorer) AS pair,
        ours.score - others.score AS difference
    FROM answers AS ours
    JOIN answers AS others
        ON ours.entry = others.entry
        AND ours.task = others.task
        AND ours.board.metric = others.board.metric
        AND ours.board.scorer <> others.board.scorer
    WHERE ours.is_judged AND others.is_judged AND ours.entry = ours.unit
),

shifts AS (
    SELECT
        board,
        kind,
        count(*) AS n_pairs,
        exact_mean((mean ** 2 - error) / 2) AS variance,
        -- F distributed: its mean is 1, as that of chi-square.
        count(ratio) AS n_tested,
        count(DISTINCT unit) FILTER (ratio IS NOT NULL) AS n_units,
        -- Successive pairs share a run, so that the sum varies more; all pairs of a judge share it.
        if(kind = 'judge', n_units, 2 * n_tested ** 2 / (3 * n_tested - n_units)) AS df,
        chi_square_p(exact_mean(ratio) * df, df) AS p_value
    FROM (
        SELECT
            board,
            kind,
            unit,
            exact_mean(difference) AS mean,
            list_var_samp(list(difference ORDER BY task)) / count(*) AS error,
            CASE WHEN count(*) >= 20 THEN mean ** 2 / nullif(error, 0) * (count(*) - 3) / (count(*) - 1) END
                AS ratio
        FROM pairs
        WHERE difference IS NOT NULL
        GROUP BY board, kind, unit, pair
        HAVING count(*) >= 6
    )
    GROUP BY board, kind
)

SELECT
    parts.board.suite,
    parts.board.task_set,
    parts.board.metric,
    parts.board.scorer,
    parts.board.filter,
    parts.n_models,
    parts.n_tasks,
    parts.n_attempts,
    CASE
        WHEN parts.attempt_variance IS NOT NULL THEN if(parts.is_of_run, 'run', 'runs')
    END AS attempts_from,
    parts.variance,
    parts.variance - parts.attempt_variance AS task_variance,
    parts.attempt_variance,
    -- least() passes over NULL.
    if(
        parts.attempt_variance > parts.variance,
        1.0,
        parts.attempt_variance / nullif(parts.variance, 0)
    ) AS attempt_share,
    if(parts.share_ends[1] > 1, 1.0, parts.share_ends[1]) AS attempt_share_low,
    if(parts.share_ends[2] > 1, 1.0, parts.share_ends[2]) AS attempt_share_high,
    runs.variance AS run_variance,
    coalesce(runs.n_pairs, 0) AS n_run_pairs,
    runs.p_value AS run_p,
    templates.variance AS template_variance,
    coalesce(templates.n_pairs, 0) AS n_template_pairs,
    templates.p_value AS template_p,
    judges.variance AS judge_variance,
    coalesce(judges.n_pairs, 0) AS n_judge_pairs,
    judges.p_value AS judge_p
FROM parts
LEFT JOIN (FROM shifts WHERE kind = 'run') AS runs ON parts.board = runs.board
LEFT JOIN (FROM shifts WHERE kind = 'template') AS templates ON parts.board = templates.board
LEFT JOIN (FROM shifts WHERE kind = 'judge') AS judges ON parts.board = judges.board
ORDER BY ALL
