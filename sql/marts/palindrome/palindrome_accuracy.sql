-- How accurate each model is at palindromes, and what a right answer costs.
-- grain: model × settings
-- n: judged answers, all runs
-- accuracy_low, accuracy_high: Wilson's 95 % interval
-- n_cost_known: answers whose cost is known; the money figures are over these alone
-- time_per_task_seconds: mean wall time, retries included
SELECT
    model,
    settings,
    count(*) AS n,
    count(*) FILTER (passed) AS n_correct,
    n_correct / nullif(n, 0) AS accuracy,
    wilson_low(n_correct, n) AS accuracy_low,
    wilson_high(n_correct, n) AS accuracy_high,
    count(cost_usd) AS n_cost_known,
    exact_mean(cost_usd) AS mean_cost_usd,
    exact_sum(cost_usd) AS total_cost_usd,
    exact_sum(cost_usd) / nullif(
        count(*) FILTER (passed AND cost_usd IS NOT NULL), 0
    ) AS cost_per_correct_usd,
    exact_mean(duration_seconds) AS time_per_task_seconds,
    min(run_date) AS first_date,
    max(run_date) AS last_date
FROM verdicts
WHERE suite = 'palindrome' AND passed IS NOT NULL AND duplicate_of IS NULL
GROUP BY model, settings
ORDER BY accuracy DESC, n DESC, model, settings
