-- The pass rate of each model in each run over the tasks of a task set, and how much of the set the
-- run covers.
-- board
-- by_run: scores.task_rates
-- grain: run × provider × model × settings × task set
-- inherits: scores.setups
-- n_tasks: tasks asked
-- n_covered: tasks of the set's version among them; see task_set_versions
-- covered_pass_rate: pass rate over these tasks only
-- n_rated: tasks behind pass_rate
-- n_results: calls, attempts and calls without an answer included
-- n_unanswered: calls without an answer; at judged tasks they count as not passed
-- n_answered_tasks: tasks with an answer
-- pass_rate: mean over the tasks of the share of attempts that passed; NULL if nothing was judged
-- pass_rate_low: lower end of the 95 % interval of the pass rate: Wilson's for the number of tasks,
--     narrower where repeated attempts add information, see effective_tasks; where tasks depend on each
--     other, see clustered_interval
-- pass_rate_high: upper end of the 95 % interval of the pass rate
-- n_clusters: clusters of these tasks; NULL where no two of them are known to depend on each other
-- min_pass_rate: pass rate if all attempts without a verdict had failed; NULL where none is missing
-- max_pass_rate: pass rate if all of them had passed; NULL where none is missing
-- is_first_only: whether only first attempts count; see task_rates
-- is_repeated: whether a task has several attempts that count
-- kinds: number of tasks by what their attempts came to, for metrics
-- asked: hash of the tasks asked, equal for runs that asked the same ones
WITH placed AS (
    SELECT
        rates.*,
        newest.task_set IS NOT NULL AS is_in_set
    FROM scores.task_rates AS rates
    LEFT JOIN scores.newest_tasks AS newest
        ON rates.suite = newest.suite
        AND rates.task_set = newest.task_set
        AND rates.task_id IS NOT DISTINCT FROM newest.task_id
        AND coalesce(rates.task_hash = newest.task_hash, true)
),

sums AS (
    SELECT
        suite,
        run_id,
        entry,
        any_value(provider) AS provider,
        any_value(model) AS model,
        any_value(settings) AS settings,
        any_value(task_set) AS task_set,
        count(*) AS n_tasks,
        count(*) FILTER (is_in_set) AS n_covered,
        count(pass_rate) AS n_rated,
        CAST(sum(n_results) AS BIGINT) AS n_results,
        CAST(sum(n_unanswered) AS BIGINT) AS n_unanswered,
        count(*) FILTER (n_results > n_unanswered) AS n_answered_tasks,
        CAST(sum(n_trials) AS BIGINT) AS n_trials,
        sum(n_judged) > 0 AS is_judged,
        bool_or(is_first_only) AS is_first_only,
        bool_or(n_trials > 1) AS is_repeated,
        exact_small_sum(pass_rate) AS rates,
        exact_small_sum(pass_rate ** 2) AS squares,
        count(n_missing) AS n_bounded,
        -- Only of the few tasks that differ from their pass rate.
        exact_small_sum(CASE WHEN n_missing > 0 THEN min_rate - coalesce(pass_rate, 0) END) AS below,
        exact_small_sum(CASE WHEN n_missing > 0 THEN max_rate - coalesce(pass_rate, 0) END) AS above,
        exact_small_sum(CASE WHEN is_in_set THEN pass_rate END)
            / nullif(count(pass_rate) FILTER (is_in_set), 0) AS covered_rate,
        histogram({
            n_attempts: n_trials,
            n_passed: n_trials_passed,
            first_passed: is_first_passed
        }) FILTER (placed.is_judged AND n_trials > 0) AS kinds,
        bit_xor(hash(text_hash(task_id), text_hash(CASE WHEN NOT is_in_set THEN task_hash END))) AS asked
    FROM placed
    -- An entry is of one run; a sync restricts the rows by it.
    GROUP BY suite, run_id, entry
),

rated AS (
    SELECT
        *,
        CASE WHEN is_judged THEN rates / n_rated END AS pass_rate,
        CASE WHEN is_judged THEN effective_tasks(n_rated, n_trials, rates, squares) ELSE 0 END
            AS n_effective,
        len(clusters.sizes) AS n_clusters,
        clustered_interval(clusters.sums, clusters.sizes) AS clustered
    FROM sums
    LEFT JOIN scores.entry_clusters AS clusters USING (suite, run_id, entry)
)

SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    n_tasks,
    n_covered,
    n_rated,
    n_results,
    n_unanswered,
    n_answered_tasks,
    pass_rate,
    CASE WHEN is_judged THEN covered_rate END AS covered_pass_rate,
    n_clusters,
    if(
        n_clusters IS NULL, wilson_low(pass_rate * n_effective, n_effective), clustered[1]
    ) AS pass_rate_low,
    if(
        n_clusters IS NULL, wilson_high(pass_rate * n_effective, n_effective), clustered[2]
    ) AS pass_rate_high,
    CASE WHEN is_judged THEN (rates + below) / n_bounded END AS min_pass_rate,
    CASE WHEN is_judged THEN (rates + above) / n_bounded END AS max_pass_rate,
    is_first_only,
    is_repeated,
    kinds,
    asked,
    entry
FROM rated
