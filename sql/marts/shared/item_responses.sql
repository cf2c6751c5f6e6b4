-- How often each system passed each item: the responses that say what items are worth and how able
-- systems are. Each system counts by its run on the board, by the verdict and by every other score that has
-- no other values than 0 and 1 in the whole task set. Replays, duplicates and copies of tasks are left out.
-- grain: suite × task set × task × provider × model × settings × scorer × metric × filter
-- inherits: scores.task_attempts, scores.board_runs, scores.run_headers
-- first: item, system, n_passed, n_attempts, n_unjudged
-- item: hash of the item, which other task sets and tools share, see item_hash in tasks; where it is not
--     known, or versions of the task differ and the run does not say which it asked, the suite, task set
--     and task
-- item_hash: item where it is a hash; else NULL
-- system: model and settings in one text, with the provider where the model has several on the boards
-- n_passed: attempts among n_attempts that passed
-- n_attempts: attempts with an outcome, that count; 0 if none has one. A call without an answer did not
--     pass
-- n_unjudged: attempts without a verdict or score, which n_attempts leaves out
WITH board AS (
    SELECT
        *,
        count(DISTINCT coalesce(provider, '')) OVER (PARTITION BY model, settings) > 1 AS has_several
    FROM scores.board_runs
),

cells AS (
    SELECT entry, task_id, task_hash, NULL AS scorer, 'passed' AS metric, NULL AS filter,
        n_trials_passed AS n_passed,
        n_trials AS n_attempts,
        coalesce(n_missing, 0) AS n_unjudged
    FROM scores.task_rates
    ANTI JOIN scores.eval_arena_attempts USING (entry, task_id)
    WHERE is_judged AND n_outcomes + coalesce(n_missing, 0) > 0
    UNION ALL
    SELECT entry, task_id, NULL AS task_hash, NULL AS scorer, 'passed' AS metric, NULL AS filter,
        n_passed, n_attempts, 0 AS n_unjudged
    FROM scores.eval_arena_attempts
    UNION ALL
    SELECT entry, task_id, NULL AS task_hash, scorer, metric, filter,
        CAST(list_sum(listed) AS BIGINT) AS n_passed,
        len(listed) AS n_attempts,
        n_attempts - len(listed) AS n_unjudged
    FROM scores.recorded_attempts
    -- Of a score of shares, those that happen to be 0 or 1 are no passes and failures.
    QUALIFY bool_and(NOT list_bool_or(list_transform(listed, lambda value: value NOT IN (0, 1))))
        OVER (PARTITION BY suite, task_set, scorer, metric, filter)
),

asked AS (
    SELECT
        board.suite,
        board.task_set,
        cells.task_id,
        cells.task_hash,
        board.provider,
        board.model,
        board.settings,
        board.has_several,
        cells.scorer,
        cells.metric,
        cells.filter,
        board.run_id,
        headers.is_adaptive,
        board.entry,
        cells.n_passed,
        cells.n_attempts,
        cells.n_unjudged
    FROM cells
    JOIN board ON cells.entry = board.entry
    JOIN scores.run_headers AS headers
        ON board.suite = headers.suite
        AND board.run_id = headers.run_id
    WHERE cells.task_id IS NOT NULL
),

-- As in result_items: by the version that was asked, else if all versions in the set are one item.
items AS (
    SELECT suite, task_id, task_hash, task_set, any_value(item_hash) AS item_hash
    FROM tasks
    GROUP BY GROUPING SETS ((suite, task_id, task_hash), (suite, task_id, task_set))
    HAVING count(DISTINCT coalesce(item_hash, '')) = 1
)

SELECT
    asked.suite,
    asked.task_set,
    asked.task_id,
    coalesce(by_version.item_hash, by_set.item_hash) AS item_hash,
    coalesce(
        by_version.item_hash,
        by_set.item_hash,
        concat_ws('/', asked.suite, asked.task_set, asked.task_id)
    ) AS item,
    asked.provider,
    asked.model,
    asked.settings,
    concat_ws(
        ', ',
        CASE
            WHEN asked.has_several THEN concat_ws('/', asked.provider, asked.model)
            ELSE coalesce(asked.model, asked.provider)
        END,
        nullif(asked.settings, '')
    ) AS system,
    asked.scorer,
    asked.metric,
    asked.filter,
    asked.run_id,
    asked.is_adaptive,
    asked.n_passed,
    asked.n_attempts,
    asked.n_unjudged
FROM asked
LEFT JOIN items AS by_version
    ON asked.suite = by_version.suite
    AND asked.task_id = by_version.task_id
    AND asked.task_hash = by_version.task_hash
LEFT JOIN items AS by_set
    ON asked.suite = by_set.suite
    AND asked.task_id = by_set.task_id
    AND asked.task_set = by_set.task_set
