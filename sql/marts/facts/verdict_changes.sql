-- Each judged result next to the same model's previous one for the same task.
-- grain: judged result
-- inherits: verdicts
-- previous_passed: the previous verdict; NULL for the first. Results without a date or time come
--     first
-- change: gained (failed before, passed now), lost (the reverse) or same; NULL for the first
SELECT
    suite,
    run_id,
    result_id,
    seq,
    run_date,
    started_at,
    provider,
    model,
    settings,
    task_set,
    task_id,
    passed,
    lag(passed) OVER (
        PARTITION BY suite, provider, model, settings, task_set, task_id
        ORDER BY run_date NULLS FIRST, started_at NULLS FIRST, run_id, seq, result_id
    ) AS previous_passed,
    CASE
        WHEN passed AND NOT previous_passed THEN 'gained'
        WHEN NOT passed AND previous_passed THEN 'lost'
        WHEN previous_passed IS NOT NULL THEN 'same'
    END AS change
FROM verdicts
WHERE passed IS NOT NULL AND duplicate_of IS NULL
ORDER BY
    suite, provider, model, settings, task_set, task_id,
    run_date NULLS FIRST, started_at NULLS FIRST, run_id, seq, result_id
