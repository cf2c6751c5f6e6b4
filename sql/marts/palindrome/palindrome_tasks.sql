-- How hard each palindrome task is, and which models solved it.
-- grain: task (its prompt)
-- inherits: results
-- first: prompt, reference, accuracy, n, solved_by
-- reference: the right answer, if a task file has it
-- n: judged answers
-- n_correct: right answers
-- accuracy: n_correct / n
-- accuracy_low: lower end of Wilson's 95 % interval of the accuracy
-- accuracy_high: upper end of Wilson's 95 % interval of the accuracy
-- time_per_task_seconds: mean wall time per answer, retries included
-- n_models: models that answered
-- solved_by: models with at least one right answer, sorted
WITH answers AS (
    SELECT *
    FROM scores.counted_verdicts
    WHERE suite = 'palindrome' AND passed IS NOT NULL
),

reference_texts AS (
    SELECT prompt, arg_min(reference, task_version) AS reference
    FROM tasks
    WHERE suite = 'palindrome'
    GROUP BY prompt
)

SELECT
    answers.prompt,
    any_value(reference_texts.reference) AS reference,
    count(*) AS n,
    count(*) FILTER (passed) AS n_correct,
    n_correct / nullif(n, 0) AS accuracy,
    wilson_low(n_correct, n) AS accuracy_low,
    wilson_high(n_correct, n) AS accuracy_high,
    exact_mean(duration_seconds) AS time_per_task_seconds,
    exact_mean(cost_usd) AS mean_cost_usd,
    count(DISTINCT model) AS n_models,
    coalesce(list_sort(list(DISTINCT model) FILTER (passed AND model IS NOT NULL)), []) AS solved_by
FROM answers
LEFT JOIN reference_texts ON answers.prompt = reference_texts.prompt
GROUP BY answers.prompt
ORDER BY accuracy DESC, answers.prompt
