-- The runs that are later than the one on the board and do not replace it, and why.
-- grain: suite × task set × provider × model × settings
-- inherits: scores.board_runs
-- entry: hash of the run and model on the board
-- reason: `no_answer`: nothing was answered; `unanswered_again`: only tasks that got no answer in the
--     run on the board; `failures_again`: five tasks or more, all of which had failed in the run on
--     the board, which a choice at random would do with p < 0.001 (the hypergeometric distribution):
--     such a run cannot show how good the model is; `fewer_tasks`
WITH partial AS (
    SELECT board.entry, board.newer_partial_entry, newer.run_id, newer.n_tasks, newer.is_answered
    FROM scores.board_runs AS board
    JOIN scores.asked_sets AS newer ON board.newer_partial_entry = newer.entry
),

-- Of the run on the board: the tasks, those that failed, and those that were asked again.
before AS (
    SELECT
        partial.entry,
        count(*) AS n_before,
        count(*) FILTER (rates.pass_rate = 0) AS n_failed,
        count(again.task) AS n_again,
        count(again.task) FILTER (rates.pass_rate = 0) AS n_failed_again,
        count(again.task) FILTER (rates.n_unanswered = rates.n_results) AS n_unanswered_again
    FROM partial
    JOIN scores.task_rates AS rates ON partial.entry = rates.entry
    LEFT JOIN scores.task_facts AS again
        ON partial.newer_partial_entry = again.entry
        AND rates.task = again.task
    GROUP BY partial.entry
)

SELECT
    partial.entry,
    partial.run_id,
    CASE
        WHEN NOT partial.is_answered THEN 'no_answer'
        WHEN before.n_unanswered_again = partial.n_tasks THEN 'unanswered_again'
        WHEN before.n_again >= 5
            AND before.n_again = partial.n_tasks
            AND before.n_failed_again = before.n_again
            AND lgamma(before.n_failed + 1) - lgamma(before.n_failed - before.n_again + 1)
            - lgamma(before.n_before + 1) + lgamma(before.n_before - before.n_again + 1)
            < ln(0.001)
            THEN 'failures_again'
        ELSE 'fewer_tasks'
    END AS reason
FROM partial
JOIN before ON partial.entry = before.entry
