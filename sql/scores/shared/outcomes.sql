-- Whether each call counts as passed: its verdict; a call without an answer did not pass, unless
-- nothing judges the task. All pass rates follow this rule.
-- grain: result
-- inherits: verdicts
-- is_answered: whether the call gave an answer
-- outcome: passed; false if the call gave no answer and its task is in judged_tasks; else NULL
SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    calls.seq,
    calls.run_date,
    calls.provider,
    calls.model,
    calls.settings,
    calls.task_set,
    calls.task_id,
    calls.task_hash,
    calls.attempt,
    calls.latency_ms,
    calls.cost_usd,
    calls.passed,
    calls.verdict_source,
    coalesce(calls.availability_status = 'ok' AND calls.success, false) AS is_answered,
    CASE
        WHEN calls.passed IS NOT NULL THEN calls.passed
        WHEN NOT is_answered AND judged.is_replay IS NOT NULL THEN false
    END AS outcome,
    calls.is_replay,
    calls.duplicate_of
FROM verdicts AS calls
LEFT JOIN scores.judged_tasks AS judged
    ON calls.suite = judged.suite
    AND calls.task_set IS NOT DISTINCT FROM judged.task_set
    AND calls.task_id IS NOT DISTINCT FROM judged.task_id
    AND calls.is_replay = judged.is_replay
