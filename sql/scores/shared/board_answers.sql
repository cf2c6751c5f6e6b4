-- What each call in the runs on the boards answered, with a verdict. Replays are left out.
-- grain: result
-- inherits: scores.resolved_results
-- answer: what the scorer read as the answer, else the recorded answer, else the output, in lower case and
--     without whitespace at its ends; NULL where there is none, or it is longer than 200 characters
-- passed: the verdict
WITH extracted AS (
    SELECT suite, run_id, result_id, min(answer) AS answer
    FROM lake.result_scores
    WHERE answer IS NOT NULL
    GROUP BY suite, run_id, result_id
)

SELECT
    suite,
    entry,
    task_id,
    lower(item_text(CASE WHEN length(said) <= 200 THEN said END)) AS answer,
    passed
FROM (
    SELECT
        calls.suite,
        calls.entry,
        calls.task_id,
        coalesce(extracted.answer, calls.answer, calls.raw_output) AS said,
        coalesce(calls.is_correct, calls.objective_pass, calls.computed) AS passed
    FROM scores.resolved_results AS calls
    LEFT JOIN extracted
        ON calls.suite = extracted.suite
        AND calls.run_id = extracted.run_id
        AND calls.result_id = extracted.result_id
    WHERE NOT calls.is_replay
        -- By the setup, which results have themselves: others are left out before they are joined.
        AND calls.setup IN (
            SELECT setup FROM scores.setups SEMI JOIN scores.board_runs USING (entry)
        )
)
WHERE passed IS NOT NULL
