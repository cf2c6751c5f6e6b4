-- The pass rate of each model in each run.
-- grain: run × provider × model × settings × task set
-- first: run_id, model, settings, pass_rate, n_trials, n_unanswered, run_date
-- n_unanswered: calls that gave no answer
-- pass_rate_low: lower end of Wilson's 95 % interval of the pass rate, for n_trials independent calls; too high
--     where tasks were attempted more than once, or depend on each other: the leaderboard's is by tasks
-- pass_rate_high: upper end of that interval; too low in that case
-- remark: of an adaptive run, why it has no pass rate; else how many calls count as not passed because they
--     got no answer; NULL where none does
WITH calls AS (
    SELECT
        trials.*,
        if(n_judged > 0, n_outcomes, 0) AS n_trials,
        is_adaptive
    FROM scores.entry_trials AS trials
    JOIN scores.run_headers USING (suite, run_id)
    WHERE is_counted AND NOT is_replay
)

SELECT
    suite,
    run_id,
    provider,
    model,
    settings,
    task_set,
    times.run_date,
    n_results,
    n_unanswered,
    n_judged,
    n_passed,
    n_recorded,
    n_judged - n_recorded AS n_computed,
    n_trials,
    if(is_adaptive, NULL, n_passed / nullif(n_trials, 0)) AS pass_rate,
    if(is_adaptive, NULL, wilson_low(n_passed, n_trials)) AS pass_rate_low,
    if(is_adaptive, NULL, wilson_high(n_passed, n_trials)) AS pass_rate_high,
    coalesce(
        adaptive_remark(is_adaptive),
        pass_rate_remark(pass_rate, n_trials, n_trials, NULL, NULL, n_trials - n_judged, n_trials)
    ) AS remark
FROM calls
JOIN scores.run_times AS times USING (suite, run_id)
ORDER BY suite, times.run_date, run_id, provider, model, settings, task_set
