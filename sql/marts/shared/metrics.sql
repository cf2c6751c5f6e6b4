-- The figures of each model in each run of a task set, by every metric that its results have. The
-- unit is the task: a reducer makes one value of the attempts at a task, and the figure is the mean of
-- these values. An attempt whose score is not a number (NaN, a text) is left out; so is a task without
-- a value. Runs whose tasks all have one attempt have the reducer mean only. A run that repeats calls
-- of another run is taken as a whole, one without calls of its own is left out, and so are replays.
-- Next to a judge's figure is the same corrected by labels of people or gold, where there are any. What votes
-- say of a model is with its run on the board.
-- grain: run × provider × model × settings × task set × scorer × metric × filter × reducer × k
-- inherits: scores.run_metrics, lake.result_scores, results
-- blocks: suite, run_id, task_set
-- first: model, metric, reducer, k, mean, mean_low, mean_high, settings, n_tasks, scorer,
--     filter
-- metric: name of the score in result_scores; `passed` without a scorer is the verdict, and calls
--     without an answer did not pass, as in the leaderboard; that of a judge's figure corrected by labels
--     ends in "(corrected)", that of votes in "(votes, log score)"
-- mean: mean of the tasks' values; NULL if there are none, and of an adaptive run, as all that follows
-- remark: of a corrected figure, how many labels of whom it is made of; "labelled answers only" and why, where
--     the labels cannot speak for the other answers, so that mean is NULL; likewise of votes; of an adaptive run,
--     why it has no mean; of the mean of verdicts what the leaderboard says: what missing verdicts leave open, and
--     how many calls got no answer; NULL for other figures
WITH verdicts AS (
    -- Of tasks that were asked once: each passed or did not.
    SELECT entry, n_rated, n_clusters, pass_rate, pass_rate_low, pass_rate_high, round(pass_rate * n_rated) AS n_passed
    FROM scores.entry_rates
    ANTI JOIN (FROM scores.run_metrics WHERE is_verdict) AS kept USING (entry)
    WHERE kinds IS NOT NULL
),

shown AS (
    FROM scores.run_metrics
    UNION ALL BY NAME
    SELECT
        entry,
        'passed' AS metric,
        'mean' AS reducer,
        n_rated AS n_tasks,
        n_rated AS n_results,
        0 AS n_unscored,
        pass_rate AS mean,
        pass_rate_low AS mean_low,
        pass_rate_high AS mean_high,
        CASE WHEN pass_rate_low IS NOT NULL THEN if(n_clusters IS NULL, 'wilson', 'clustered') END
            AS interval_method,
        sqrt(pass_rate * (n_rated - n_passed) / nullif(n_rated - 1, 0) / n_rated) AS stderr,
        (sign(2 * n_passed - n_rated) + 1) / 2 AS median,
        CAST(n_passed = n_rated AS DOUBLE) AS min,
        CAST(n_passed > 0 AS DOUBLE) AS max
    FROM verdicts
    UNION ALL BY NAME
    SELECT
        entry,
        scorer,
        metric || ' (corrected)' AS metric,
        'mean' AS reducer,
        if(mean IS NULL, 0, n_tasks) AS n_tasks,
        if(mean IS NULL, 0, n_results) AS n_results,
        if(mean IS NULL, n_tasks, 0) AS n_unscored,
        mean,
        mean_low,
        mean_high,
        if(mean_low IS NULL, NULL, 'corrected') AS interval_method,
        stderr,
        remark
    FROM scores.corrected_means
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (n_clusters),
        'mean' AS reducer,
        0 AS n_unscored,
        if(mean_low IS NULL, NULL, 'votes') AS interval_method
    FROM scores.vote_metrics
)

SELECT
    entries.suite,
    entries.run_id,
    entries.provider,
    entries.model,
    entries.settings,
    entries.task_set,
    shown.scorer,
    shown.metric,
    shown.filter,
    shown.reducer,
    shown.k,
    shown.n_tasks,
    shown.n_results,
    shown.n_unscored,
    if(is_adaptive, NULL, shown.mean) AS mean,
    if(is_adaptive, NULL, shown.mean_low) AS mean_low,
    if(is_adaptive, NULL, shown.mean_high) AS mean_high,
    if(is_adaptive, NULL, shown.interval_method) AS interval_method,
    if(is_adaptive, NULL, shown.stderr) AS stderr,
    if(is_adaptive, NULL, shown.median) AS median,
    if(is_adaptive, NULL, shown.min) AS min,
    if(is_adaptive, NULL, shown.max) AS max,
    coalesce(
        adaptive_remark(is_adaptive),
        shown.remark,
        if(
            shown.metric = 'passed' AND shown.scorer IS NULL AND shown.reducer = 'mean',
            pass_rate_remark(
                rates.pass_rate,
                rates.n_rated,
                rates.n_tasks,
                rates.min_pass_rate,
                rates.max_pass_rate,
                rates.n_unanswered,
                rates.n_results
            ),
            NULL
        )
    ) AS remark
FROM shown
JOIN scores.entries AS entries ON shown.entry = entries.entry
JOIN scores.run_headers AS headers
    ON entries.suite = headers.suite
    AND entries.run_id = headers.run_id
LEFT JOIN scores.entry_rates AS rates ON shown.entry = rates.entry
ORDER BY
    suite, run_id, task_set, provider, model, settings, metric, scorer, filter,
    reducer <> 'mean', reducer, k
