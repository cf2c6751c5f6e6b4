-- The models of every task set by every metric, best first, each by its latest full run; where verdicts
-- are missing, they count as failed in this order. The main metric of each task set comes first. Of the
-- some twenty scores of posters only app_quality, the main one, and app_core are here, because the others
-- are parts of them, and the use of tools is here as tool_tier; `metrics` has all.
-- grain: suite × task set × metric × scorer × filter × provider × model × settings
-- inherits: metrics
-- blocks: suite, task_set
-- first: metric, model, settings, is_comparable, pass_rate, min_pass_rate, max_pass_rate,
--     score, n_tasks, total_cost_usd, p50_ms, run_date, newer_partial_run_id
-- metric: what the row ranks by: `passed`, the verdict, has a pass_rate; every other metric a score
-- is_main: whether it is the main metric of the task set: app_quality for posters, else `passed`; of a
--     task set without verdicts, the score `passed` if there is one, else the metric with the most
--     scored tasks; votes never are
-- pass_rate: mean over the tasks of the share of attempts that passed; calls without an answer did
--     not pass; NULL if nothing was judged, and of an adaptive run, whose tasks were chosen by the answers:
--     `evalstore subset --estimate` has its full score
-- pass_rate_low: lower end of the 95 % interval of the pass rate: Wilson's for the number of tasks,
--     narrower where repeated attempts add information, see effective_tasks; of tasks in clusters, see
--     clustered_interval
-- pass_rate_high: upper end of the 95 % interval of the pass rate; where verdicts are missing, both ends
--     are of the judged tasks only
-- min_pass_rate: pass rate over all tasks asked if every answer without a verdict had failed; NULL where
--     none is missing. Tasks whose validator judges nothing have none to miss
-- max_pass_rate: the same if every such answer had passed
-- remark: where verdicts are missing, what pass_rate is of, and both bounds, in words; where calls got no
--     answer, how many; of a score of which less is better, that it is one; of a corrected metric, which
--     labels it is made of, or why there is no score; likewise of one of votes; of an adaptive run, that
--     there is none; else NULL
-- n_tasks: tasks asked, those without an answer included
-- n_clusters: clusters of the judged or scored tasks, where some depend on each other (questions about
--     one passage): the interval is of clusters, and there is none below 6; NULL where no two tasks are
--     known to
-- n_unjudged: tasks among them that nothing judges, so that pass_rate leaves them out
-- is_first_only: whether only first attempts count, because the run repeated tasks until they passed
-- n_results: calls made for the tasks: attempts, and those without an answer
-- n_unanswered: calls among them that gave no answer
-- n_tasks_in_set: tasks in the version of the task set that counts, also those that nothing judges; NULL where
--     the rows that may be compared were asked more tasks than that, since logs may describe only some tasks of
--     a set
-- version_reason: how that version was found: `declared`, `largest`, `agreed` or `sample`; see
--     scores.task_set_versions
-- is_comparable: whether the row may be compared with the others of its task set: it was asked the
--     same tasks as the row that covers most of the set, or the metric is of votes, which need no same tasks
-- pass_rate_in_set: pass rate over the tasks of the set only, of a row that was asked all of these
--     and more; NULL otherwise
-- run_id: the latest full run: no run of the model asked more tasks of the set's version,
--     whether or not they were answered
-- newer_partial_run_id: latest run after it, which covers less of the set or got no answer at all;
--     NULL if there is none
-- newer_partial_reason: why it does not count: `no_answer`: nothing was answered; `unanswered_again`:
--     it repeats only calls of the run on the board that got no answer, and completes it;
--     `failures_again`: five tasks or more, all of which had failed in the run on the board, which a
--     choice at random would do with p < 0.001 (the hypergeometric distribution): such a run cannot show
--     how good the model is; `fewer_tasks`
-- passed_over_run: former name of newer_partial_run_id, for one release
-- completed_by: later runs that asked only tasks of this one that got no answer: what they answered counts
--     here; cost and latency are of run_id alone
-- n_runs: runs of the model on the task set
-- p50_ms: median latency of the answered calls, milliseconds; NULL below 6 answered tasks. `latency` has
--     p95_ms with its interval
-- cost_per_passed_usd: total_cost_usd per passed call of known cost, US dollars; `costs` has its interval;
--     NULL of an adaptive run
-- steps_per_trial: mean number of steps of the trials of an agent; NULL where no log has them
-- minutes_per_passed: minutes that all trials took per passed trial, of those of known duration; NULL
--     where none passed, and of an adaptive run
-- stopped_rate: share of the trials of known end that ended by a limit, by time or by an error
-- score: mean over the tasks of the metric, attempts averaged, on the metric's own scale (app_quality:
--     0 to 100); of votes a log score, which is no rate: see docs/judges.md; NULL for `passed`
-- score_low: lower end of the 95 % interval of the score; see metrics
-- score_high: upper end of that interval
-- n_scored: tasks behind the score
-- label: gold or silver: label of the ground truth behind the score; NULL for other suites
-- gold_posters: scored posters with gold ground truth
-- silver_posters: scored posters with silver ground truth
-- tool_tier: OpenClaw tier of the run, see tool_tiers; NULL if no call is known to ask
--     for a tool
-- routing: whether subagents may be routed to the model, in words; see tool_tiers
WITH full_runs AS MATERIALIZED (
    SELECT * FROM scores.board_runs
),

set_sizes AS (
    SELECT
        suite,
        task_set,
        count(*) AS n_tasks_in_set,
        any_value(version_reason) AS version_reason
    FROM scores.newest_tasks
    GROUP BY suite, task_set
),

-- Later runs that do not replace the one on the board.
partial AS (
    SELECT runs.entry, runs.newer_partial_entry, newer.run_id, newer.n_tasks, newer.is_answered
    FROM full_runs AS runs
    JOIN scores.asked_sets AS newer ON runs.newer_partial_entry = newer.entry
),

completed AS (
    SELECT entry, string_agg(DISTINCT other_run_id, ', ' ORDER BY other_run_id) AS completed_by
    FROM scores.completions
    GROUP BY entry
),

-- Of the run on the board: the tasks, those that failed, and those that were asked again.
before AS (
    SELECT
        partial.entry,
        count(*) AS n_before,
        count(*) FILTER (rates.pass_rate = 0) AS n_failed,
        count(again.task) AS n_again,
        count(again.task) FILTER (rates.pass_rate = 0) AS n_failed_again
    FROM partial
    JOIN scores.task_rates AS rates ON partial.entry = rates.entry
    LEFT JOIN scores.task_facts AS again
        ON partial.newer_partial_entry = again.entry
        AND rates.task = again.task
    GROUP BY partial.entry
),

newer AS (
    SELECT
        partial.entry,
        partial.run_id,
        CASE
            WHEN NOT partial.is_answered THEN 'no_answer'
            WHEN completions.other_entry IS NOT NULL THEN 'unanswered_again'
            WHEN before.n_again >= 5
                AND before.n_again = partial.n_tasks
                AND before.n_failed_again = before.n_again
                AND log_p_all_failed(before.n_before, before.n_failed, before.n_again) < ln(0.001)
                THEN 'failures_again'
            ELSE 'fewer_tasks'
        END AS reason
    FROM partial
    JOIN before ON partial.entry = before.entry
    LEFT JOIN (SELECT DISTINCT entry, other_entry FROM scores.completions) AS completions
        ON partial.entry = completions.entry
        AND partial.newer_partial_entry = completions.other_entry
),

calls AS (
    SELECT
        entry,
        any_value(p50_ms) AS p50_ms,
        exact_total(sum(latency_whole), sum(latency_fraction)) / nullif(sum(n_timed), 0) AS mean_ms,
        sum(n_timed) AS n_timed,
        CAST(sum(n_cost_known) AS BIGINT) AS n_cost_known,
        exact_total(sum(cost_whole), sum(cost_fraction)) AS total_cost_usd,
        total_cost_usd / nullif(sum(n_passed_of_known_cost), 0) AS cost_per_passed_usd
    FROM scores.entry_calls
    SEMI JOIN full_runs USING (entry)
    GROUP BY entry
),

trials AS (
    SELECT
        entry,
        sum(n_steps) / nullif(sum(n_counted_steps), 0) AS steps_per_trial,
        exact_total(sum(duration_whole), sum(duration_fraction)) / 60000
            / nullif(sum(n_passed_timed), 0) AS minutes_per_passed,
        sum(n_stopped) / nullif(sum(n_known_ends), 0) AS stopped_rate
    FROM scores.trial_sums
    SEMI JOIN full_runs USING (entry)
    GROUP BY entry
),

poster_scores AS (
    SELECT
        means.suite,
        means.run_id,
        means.model,
        means.app_quality_mean AS score,
        means.posters AS n_scored,
        labels.label,
        labels.gold_posters,
        labels.silver_posters
    FROM scores.poster_means AS means
    JOIN poster_labels AS labels ON means.run_id = labels.run_id
),

-- Of each run, the verdict and every other metric.
figures AS (
    SELECT
        full_runs.*,
        coalesce(traits.main_metric, 'passed') AS metric,
        NULL AS scorer,
        NULL AS filter,
        true AS is_first,
        false AS is_of_votes,
        NULL AS remark,
        poster_scores.score,
        metrics.mean_low AS score_low,
        metrics.mean_high AS score_high,
        poster_scores.n_scored
    FROM full_runs
    LEFT JOIN suite_traits AS traits ON full_runs.suite = traits.suite
    LEFT JOIN poster_scores
        ON full_runs.suite = poster_scores.suite
        AND full_runs.run_id = poster_scores.run_id
        AND full_runs.model = poster_scores.model
    LEFT JOIN scores.headline_scores AS metrics
        ON full_runs.entry = metrics.entry
        AND traits.main_metric = metrics.metric
        AND metrics.scorer IS NULL
        AND metrics.filter IS NULL
        -- The score is of all posters of a model in the run, also where their settings differ.
        AND metrics.n_tasks = poster_scores.n_scored
    UNION ALL
    SELECT
        full_runs.* REPLACE (
            NULL AS pass_rate,
            NULL AS pass_rate_low,
            NULL AS pass_rate_high,
            NULL AS min_pass_rate,
            NULL AS max_pass_rate,
            metrics.n_clusters AS n_clusters
        ),
        metrics.metric,
        metrics.scorer,
        metrics.filter,
        false AS is_first,
        metrics.is_of_votes,
        metrics.remark,
        metrics.mean AS score,
        metrics.mean_low AS score_low,
        metrics.mean_high AS score_high,
        metrics.n_tasks AS n_scored
    FROM full_runs
    JOIN (
        SELECT *, false AS is_of_votes FROM scores.headline_scores
        UNION ALL BY NAME
        SELECT * EXCLUDE (n_results), true AS is_of_votes FROM scores.vote_metrics
    ) AS metrics
        ON full_runs.entry = metrics.entry
    LEFT JOIN suite_traits AS traits ON full_runs.suite = traits.suite
    WHERE
        traits.main_metric IS DISTINCT FROM metrics.metric
        AND (
            metrics.metric <> 'passed' OR metrics.scorer IS NOT NULL OR metrics.filter IS NOT NULL
            OR full_runs.pass_rate IS NULL
        )
),

weighed AS (
    SELECT
        *,
        bool_or(pass_rate IS NOT NULL OR is_first AND metric <> 'passed') OVER of_set AS has_first,
        count(*) FILTER (NOT is_first AND NOT is_of_votes) OVER (
            PARTITION BY suite, task_set, run_id, provider, model, settings
        ) = 0 AS is_only,
        sum(n_scored) OVER (PARTITION BY suite, task_set, metric, scorer, filter) AS n_set_scored
    FROM figures
    WINDOW of_set AS (PARTITION BY suite, task_set)
),

-- A task set without verdicts has no row for them.
boards AS (
    SELECT
        *,
        is_first OR (
            NOT has_first
            AND NOT is_of_votes
            AND (metric, scorer, filter) IS NOT DISTINCT FROM first_value((metric, scorer, filter))
                OVER (
                    PARTITION BY suite, task_set
                    ORDER BY
                        is_first, is_of_votes, metric <> 'passed', n_set_scored DESC NULLS LAST, metric, scorer,
                        filter
                )
        ) AS is_main
    FROM weighed
    WHERE (NOT is_first OR has_first OR is_only)
        -- Next to verdicts, a score of that name is none.
        AND NOT (
            has_first AND NOT is_first AND metric = 'passed' AND scorer IS NULL AND filter IS NULL
        )
),

scored AS (
    SELECT
        is_adaptive,
        boards.* REPLACE (
            if(is_adaptive, NULL, pass_rate) AS pass_rate,
            if(is_adaptive, NULL, pass_rate_low) AS pass_rate_low,
            if(is_adaptive, NULL, pass_rate_high) AS pass_rate_high,
            if(is_adaptive, NULL, min_pass_rate) AS min_pass_rate,
            if(is_adaptive, NULL, max_pass_rate) AS max_pass_rate,
            if(is_adaptive, NULL, covered_pass_rate) AS covered_pass_rate,
            if(is_adaptive, NULL, score) AS score,
            if(is_adaptive, NULL, score_low) AS score_low,
            if(is_adaptive, NULL, score_high) AS score_high,
            coalesce(adaptive_remark(is_adaptive), remark) AS remark
        )
    FROM boards
    JOIN scores.run_headers USING (suite, run_id)
),

-- Trials that nothing judged, answers that only votes are about, and judges of other runs, rank nowhere.
shown AS (
    SELECT *, count(DISTINCT entry) OVER (PARTITION BY suite, task_set, asked) AS n_alike
    FROM scored
    WHERE pass_rate IS NOT NULL
        OR score IS NOT NULL
        OR is_of_votes
        OR (
            NOT EXISTS (FROM trials WHERE trials.entry = scored.entry)
            AND NOT EXISTS (
                FROM lake.preferences AS votes
                WHERE votes.suite = scored.suite AND votes.run_id = scored.run_id
            )
            AND NOT EXISTS (
                FROM lake.ratings AS ratings
                WHERE ratings.suite = scored.suite
                    AND ratings.run_id = scored.run_id
                    AND ratings.rated_suite IS NOT NULL
            )
        )
),

compared AS (
    SELECT
        *,
        first_value(asked) OVER (
            PARTITION BY suite, task_set
            ORDER BY
                n_covered DESC, n_tasks, n_alike DESC, position DESC, provider, model, settings
        ) AS asked_of_set
    FROM shown
    LEFT JOIN scores.lesser_metrics USING (suite, task_set, metric)
)

SELECT
    boards.suite,
    boards.task_set,
    boards.metric,
    boards.scorer,
    boards.filter,
    boards.is_main,
    boards.provider,
    boards.model,
    boards.settings,
    boards.pass_rate,
    boards.pass_rate_low,
    boards.pass_rate_high,
    boards.min_pass_rate,
    boards.max_pass_rate,
    coalesce(boards.remark, if(boards.is_lesser IS NULL, pass_rate_remark(
        boards.pass_rate,
        boards.n_rated,
        boards.n_tasks,
        boards.min_pass_rate,
        boards.max_pass_rate,
        boards.n_unanswered,
        boards.n_results
    ), 'less is better')) AS remark,
    boards.n_tasks,
    boards.n_clusters,
    boards.n_tasks - boards.n_rated AS n_unjudged,
    boards.is_first_only,
    boards.n_results,
    boards.n_unanswered,
    CASE
        WHEN max(boards.n_tasks) FILTER (
            boards.asked IS NOT DISTINCT FROM boards.asked_of_set
        ) OVER (PARTITION BY boards.suite, boards.task_set) <= set_sizes.n_tasks_in_set
            THEN set_sizes.n_tasks_in_set
    END AS n_tasks_in_set,
    set_sizes.version_reason,
    boards.is_of_votes OR boards.asked IS NOT DISTINCT FROM boards.asked_of_set AS is_comparable,
    CASE
        WHEN boards.n_covered = set_sizes.n_tasks_in_set AND boards.n_tasks > boards.n_covered
            AND boards.is_first
            THEN boards.covered_pass_rate
    END AS pass_rate_in_set,
    boards.run_id,
    boards.run_date,
    newer.run_id AS newer_partial_run_id,
    newer.reason AS newer_partial_reason,
    newer.run_id AS passed_over_run,
    completed.completed_by,
    boards.n_runs,
    boards.score,
    boards.score_low,
    boards.score_high,
    boards.n_scored,
    poster_scores.label,
    poster_scores.gold_posters,
    poster_scores.silver_posters,
    CASE WHEN boards.n_answered_tasks >= 6 AND calls.n_timed >= 6 THEN calls.p50_ms END AS p50_ms,
    calls.mean_ms,
    calls.n_cost_known,
    calls.total_cost_usd,
    if(boards.is_adaptive, NULL, calls.cost_per_passed_usd) AS cost_per_passed_usd,
    trials.steps_per_trial,
    if(boards.is_adaptive, NULL, trials.minutes_per_passed) AS minutes_per_passed,
    trials.stopped_rate,
    tiers.tier AS tool_tier,
    tiers.routing
FROM compared AS boards
JOIN calls ON boards.entry = calls.entry
LEFT JOIN trials ON boards.entry = trials.entry
LEFT JOIN newer ON boards.entry = newer.entry
LEFT JOIN completed ON boards.entry = completed.entry
LEFT JOIN set_sizes
    ON boards.suite = set_sizes.suite
    AND boards.task_set = set_sizes.task_set
LEFT JOIN poster_scores
    ON boards.suite = poster_scores.suite
    AND boards.run_id = poster_scores.run_id
    AND boards.model = poster_scores.model
LEFT JOIN tool_tiers AS tiers
    ON boards.suite = tiers.suite
    AND boards.run_id = tiers.run_id
    AND boards.provider IS NOT DISTINCT FROM tiers.provider
    AND boards.model IS NOT DISTINCT FROM tiers.model
    AND boards.settings = tiers.settings
ORDER BY
    is_main DESC, suite, task_set, CASE WHEN NOT is_main THEN metric END, scorer, filter,
    is_comparable DESC, coalesce(min_pass_rate, pass_rate) DESC NULLS LAST,
    if(boards.is_lesser, -boards.score, boards.score) DESC NULLS LAST,
    provider, model, settings
