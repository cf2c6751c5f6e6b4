-- The pass rate of each model in each run.
-- grain: run × provider × model × settings × task set
-- first: run_id, model, settings, pass_rate, n_trials, n_unanswered, run_date
-- n_unanswered: calls that gave no answer
-- pass_rate_low: lower end of the 95 % interval of the pass rate: that of the leaderboard, where it has the same pass
--     rate; where tasks have different numbers of attempts, by tasks (see share_interval); else Wilson's for
--     n_trials independent calls, and too high where the leaderboard counts other calls of repeated tasks
-- pass_rate_high: upper end of that interval
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
),

-- The calls that passed, and all, of each task that was asked several times.
repeated AS (
    SELECT
        entry,
        list(kind['key']['n_passed'] ORDER BY kind) AS sums,
        list(kind['key']['n_attempts'] ORDER BY kind) AS sizes
    FROM (
        SELECT entry, kind, unnest(generate_series(1, kind['value']::BIGINT)) AS n
        FROM (
            SELECT entry, unnest(map_entries(kinds)) AS kind
            FROM scores.entry_rates
            WHERE is_repeated
        ) AS listed
    ) AS tasks
    GROUP BY entry
),

ended AS (
    SELECT
        calls.*,
        CASE
            WHEN abs(rates.pass_rate - n_passed / n_trials) < 1e-12
                THEN [rates.pass_rate_low, rates.pass_rate_high]
            WHEN list_sum(sizes) = n_trials AND list_sum(sums) = n_passed THEN share_interval(sums, sizes)
            ELSE [wilson_low(n_passed, n_trials), wilson_high(n_passed, n_trials)]
        END AS ends
    FROM calls
    LEFT JOIN scores.entry_rates AS rates ON calls.entry = rates.entry
    LEFT JOIN repeated ON calls.entry = repeated.entry
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
    if(is_adaptive, NULL, ends[1]) AS pass_rate_low,
    if(is_adaptive, NULL, ends[2]) AS pass_rate_high,
    coalesce(
        adaptive_remark(is_adaptive),
        pass_rate_remark(pass_rate, n_trials, n_trials, NULL, NULL, n_trials - n_judged, n_trials)
    ) AS remark
FROM ended
JOIN scores.run_times AS times USING (suite, run_id)
ORDER BY suite, times.run_date, run_id, provider, model, settings, task_set
