-- What systems answered to each item, and how often that passed: equal answers, whatever their case and
-- surrounding whitespace, are one. Each system counts by its run on the board, as in item_responses.
-- grain: suite × task set × task × provider × model × settings × answer
-- inherits: item_responses, scores.board_answers
-- first: item, system, answer, n_passed, n_failed
-- n_passed: attempts with this answer that passed
-- n_failed: attempts with this answer that did not pass
WITH counted AS (
    SELECT
        entry,
        task_id,
        answer,
        count(*) FILTER (passed) AS n_passed,
        count(*) FILTER (NOT passed) AS n_failed
    FROM scores.board_answers
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
