-- The runs, each with its pass rate and cost over all its models.
-- grain: run
-- inherits: runs
-- first: run_id, suite, models, pass_rate, is_replay, run_date, total_cost_usd, n_unanswered,
--     n_results, label
-- n_judged: results of the run with a verdict, repeated calls of other runs included
-- remark: of an adaptive run, why it has no pass rate
-- n_unanswered: calls of the run that gave no answer
WITH figures AS (
    SELECT
        suite,
        run_id,
        CAST(sum(n_judged) AS BIGINT) AS n_judged,
        CAST(sum(n_passed) AS BIGINT) AS n_passed,
        CAST(sum(n_unanswered) AS BIGINT) AS n_unanswered,
        CAST(sum(n_cost_known) AS BIGINT) AS n_cost_known,
        exact_total(sum(cost_whole), sum(cost_fraction)) AS total_cost_usd
    FROM scores.entry_calls
    GROUP BY suite, run_id
),

-- As in pass_rates, a model without any verdict has no trials.
models AS (
    SELECT suite, run_id, sum(n_outcomes) AS n_trials
    FROM scores.entry_trials
    GROUP BY suite, run_id, provider, model, settings, task_set
    HAVING sum(n_judged) > 0
),

trials AS (
    SELECT suite, run_id, CAST(sum(n_trials) AS BIGINT) AS n_trials
    FROM models
    GROUP BY suite, run_id
)

SELECT
    runs.suite,
    runs.run_id,
    runs.run_date,
    runs.n_results,
    runs.n_tasks,
    runs.models,
    runs.origin,
    runs.label,
    coalesce(figures.n_judged, 0) AS n_judged,
    coalesce(figures.n_passed, 0) AS n_passed,
    coalesce(trials.n_trials, 0) AS n_trials,
    if(headers.is_adaptive, NULL, figures.n_passed / trials.n_trials) AS pass_rate,
    adaptive_remark(headers.is_adaptive) AS remark,
    coalesce(figures.n_unanswered, 0) AS n_unanswered,
    coalesce(figures.n_cost_known, 0) AS n_cost_known,
    figures.total_cost_usd,
    runs.is_replay,
    runs.started_at
FROM runs
LEFT JOIN scores.run_headers AS headers USING (suite, run_id)
LEFT JOIN figures USING (suite, run_id)
LEFT JOIN trials USING (suite, run_id)
ORDER BY runs.suite, runs.run_date, runs.run_id
