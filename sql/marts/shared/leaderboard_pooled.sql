-- All results of each model over all runs, each counted as a trial of its own; those of adaptive runs, whose
-- tasks were chosen by the answers, are left out.
-- grain: suite × provider × model × settings
-- first: suite, model, settings, pass_rate, n_judged, score, total_cost_usd, p50_ms, last_date
-- n_runs: runs with results of the model
-- pass_rate: share of the calls with a verdict that passed; unlike in all other views, calls without
--     an answer do not count
-- pass_rate_low: lower end of Wilson's 95 % interval of the pass rate; too high where tasks were
--     asked more than once, because those are not independent trials
-- pass_rate_high: upper end of Wilson's 95 % interval of the pass rate; too low in that case
-- p50_ms: median latency of the answered calls, milliseconds
-- cost_per_passed_usd: total_cost_usd per passed call of known cost, US dollars
-- score: for suites that score rather than pass (posters: app quality, 0 to 100), of the model's
--     latest run
-- score_low: lower end of the 95 % interval of the score; see metrics
-- score_high: upper end of the 95 % interval of the score; see metrics
-- n_scored: tasks behind the score
-- label: gold or silver: label of the ground truth behind the score; NULL for other suites
-- tool_tier: OpenClaw tier over all runs, see tool_tiers; NULL if no call is
--     known to ask for a tool
-- routing: whether subagents may be routed to the model, in words; see tool_tiers
WITH tools AS (
    SELECT
        series,
        count(is_used) AS n_counted,
        count(*) FILTER (is_used) AS n_used,
        n_used / nullif(n_counted, 0) AS rate
    FROM scores.openclaw_tool_use
    -- Without a basis nothing is used, and the tools of the answer are not needed.
    WHERE is_counted AND NOT is_replay AND tier_basis IS NOT NULL
    GROUP BY series
),

models AS (
    SELECT
        series,
        any_value(suite) AS suite,
        any_value(provider) AS provider,
        any_value(model) AS model,
        any_value(settings) AS settings
    FROM scores.setups
    GROUP BY series
),

figures AS (
    SELECT
        series,
        count(DISTINCT run_id) AS n_runs,
        CAST(sum(n_results) AS BIGINT) AS n_results,
        CAST(sum(n_judged) AS BIGINT) AS n_judged,
        CAST(sum(n_passed) AS BIGINT) AS n_passed,
        exact_total(sum(latency_whole), sum(latency_fraction)) / nullif(sum(n_timed), 0) AS mean_ms,
        CAST(sum(n_cost_known) AS BIGINT) AS n_cost_known,
        exact_total(sum(cost_whole), sum(cost_fraction)) AS total_cost_usd,
        exact_total(sum(cost_whole), sum(cost_fraction))
            / nullif(sum(n_passed_of_known_cost), 0) AS cost_per_passed_usd,
        min(first_date) AS first_date,
        max(last_date) AS last_date
    FROM scores.entry_calls
    ANTI JOIN (FROM scores.run_headers WHERE is_adaptive) USING (suite, run_id)
    WHERE is_counted AND NOT is_replay
    GROUP BY series
),

answers AS (
    SELECT
        *,
        n_passed / nullif(n_judged, 0) AS pass_rate,
        wilson_low(n_passed, n_judged) AS pass_rate_low,
        wilson_high(n_passed, n_judged) AS pass_rate_high
    FROM figures
    JOIN models USING (series)
    LEFT JOIN scores.median_latencies USING (series)
),

latest_scores AS (
    SELECT
        means.suite,
        means.model,
        means.app_quality_mean AS score,
        metrics.mean_low AS score_low,
        metrics.mean_high AS score_high,
        means.posters AS n_scored,
        labels.label
    FROM scores.poster_means AS means
    JOIN poster_labels AS labels ON means.run_id = labels.run_id
    JOIN scores.run_times AS times
        ON means.suite = times.suite
        AND means.run_id = times.run_id
    LEFT JOIN scores.setups AS setups
        ON means.suite = setups.suite
        AND means.run_id = setups.run_id
        AND means.model = setups.model
    LEFT JOIN scores.run_metrics AS metrics
        ON setups.entry = metrics.entry
        AND metrics.metric = 'app_quality'
        AND metrics.reducer = 'mean'
        AND metrics.scorer IS NULL
        AND metrics.filter IS NULL
        -- The score is of all posters of a model in the run, also where their settings differ.
        AND metrics.n_tasks = means.posters
    QUALIFY row_number() OVER (
        PARTITION BY means.model ORDER BY times.run_date DESC NULLS LAST, means.run_id DESC
    ) = 1
)

SELECT
    answers.suite,
    answers.provider,
    answers.model,
    answers.settings,
    answers.n_runs,
    answers.n_results,
    answers.n_judged,
    answers.n_passed,
    answers.pass_rate,
    answers.pass_rate_low,
    answers.pass_rate_high,
    answers.p50_ms,
    answers.mean_ms,
    answers.n_cost_known,
    answers.total_cost_usd,
    answers.cost_per_passed_usd,
    answers.first_date,
    answers.last_date,
    latest_scores.score,
    latest_scores.score_low,
    latest_scores.score_high,
    latest_scores.n_scored,
    latest_scores.label,
    tool_tier(tools.rate) AS tool_tier,
    tool_routing(
        tools.rate,
        wilson_low(tools.n_used, tools.n_counted),
        wilson_high(tools.n_used, tools.n_counted)
    ) AS routing
FROM answers
LEFT JOIN latest_scores
    ON answers.suite = latest_scores.suite AND answers.model = latest_scores.model
LEFT JOIN tools ON answers.series = tools.series
ORDER BY
    suite, pass_rate DESC NULLS LAST, score DESC NULLS LAST, n_judged DESC, provider, model, settings
