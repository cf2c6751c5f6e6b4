-- The accuracy of each model on palindromes, and the cost of a right answer; adaptive runs, whose tasks were
-- chosen by the answers, are left out.
-- grain: model × settings
-- first: model, settings, accuracy, n, cost_per_correct_usd
-- n: judged answers of all runs
-- n_correct: right answers
-- accuracy: n_correct / n
-- accuracy_low: lower end of the 95 % interval of the accuracy by tasks (their prompts); see share_interval
-- accuracy_high: upper end of that interval
-- n_cost_known: answers of known cost; the cost figures cover only these
-- cost_per_correct_usd: total_cost_usd per right answer of known cost, US dollars
-- time_per_task_seconds: mean wall time per answer, retries included
WITH answers AS (
    SELECT *
    FROM scores.counted_verdicts
    ANTI JOIN (FROM scores.run_headers WHERE is_adaptive) USING (suite, run_id)
    WHERE suite = 'palindrome' AND passed IS NOT NULL
),

ended AS (
    SELECT
        model,
        settings,
        share_interval(list(n_correct ORDER BY prompt), list(n ORDER BY prompt)) AS ends
    FROM (
        SELECT model, settings, prompt, count(*) AS n, count(*) FILTER (passed) AS n_correct
        FROM answers
        GROUP BY model, settings, prompt
    ) AS tasks
    GROUP BY model, settings
)

SELECT
    answers.model,
    answers.settings,
    count(*) AS n,
    count(*) FILTER (passed) AS n_correct,
    n_correct / nullif(n, 0) AS accuracy,
    any_value(ends[1]) AS accuracy_low,
    any_value(ends[2]) AS accuracy_high,
    count(cost_usd) AS n_cost_known,
    exact_mean(cost_usd) AS mean_cost_usd,
    exact_sum(cost_usd) AS total_cost_usd,
    exact_sum(cost_usd) / nullif(
        count(*) FILTER (passed AND cost_usd IS NOT NULL), 0
    ) AS cost_per_correct_usd,
    exact_mean(duration_seconds) AS time_per_task_seconds,
    min(run_date) AS first_date,
    max(run_date) AS last_date
FROM answers
JOIN ended
    ON answers.model IS NOT DISTINCT FROM ended.model
    AND answers.settings IS NOT DISTINCT FROM ended.settings
GROUP BY answers.model, answers.settings
ORDER BY accuracy DESC, n DESC, answers.model, answers.settings
