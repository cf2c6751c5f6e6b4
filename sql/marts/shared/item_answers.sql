-- What systems answered to each item, and how often that passed: equal answers, whatever their case and
-- surrounding whitespace, are one. Each system counts by its run on the board, as in item_responses.
-- grain: suite × task set × task × provider × model × settings × answer
-- inherits: item_responses
-- first: item, system, answer, n_passed, n_failed
-- answer: what the scorer read as the answer, else the recorded answer, else the output, in lower case and
--     without whitespace at its ends; NULL where there is none, or it is longer than 200 characters
-- n_passed: attempts with this answer that passed
-- n_failed: attempts with this answer that did not pass
WITH extracted AS (
    SELECT suite, run_id, result_id, min(answer) AS answer
    FROM lake.result_scores
    WHERE answer IS NOT NULL
    GROUP BY suite, run_id, result_id
),

answers AS (
    SELECT
        calls.entry,
        calls.task_id,
        coalesce(extracted.answer, calls.answer, calls.raw_output) AS said,
        -- Here, before anything is joined: of equal answers, DuckDB looks at few.
        lower(item_text(CASE WHEN length(said) <= 200 THEN said END)) AS answer,
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
),

counted AS (
    SELECT
        entry,
        task_id,
        answer,
        count(*) FILTER (passed) AS n_passed,
        count(*) FILTER (NOT passed) AS n_failed
    FROM answers
    WHERE passed IS NOT NULL
    GROUP BY entry, task_id, answer
)

SELECT
    responses.suite,
    responses.task_set,
    responses.task_id,
    responses.item,
    responses.provider,
    responses.model,
    responses.settings,
    responses.system,
    counted.answer,
    counted.n_passed,
    counted.n_failed
FROM item_responses AS responses
JOIN scores.board_runs AS board
    ON responses.suite = board.suite
    AND responses.run_id = board.run_id
    AND responses.task_set = board.task_set
    AND responses.provider IS NOT DISTINCT FROM board.provider
    AND responses.model IS NOT DISTINCT FROM board.model
    AND responses.settings = board.settings
JOIN counted
    ON board.entry = counted.entry
    AND responses.task_id = counted.task_id
WHERE responses.metric = 'passed' AND responses.scorer IS NULL AND responses.filter IS NULL
