-- What the attempts at each task in each run scored by every metric but the verdict: what logs record,
-- ratings, the use of tools in openclaw, the sub-scores of posters. task_attempts has the verdict, too.
-- Views that leave it out read this: a history has far more verdicts than other scores.
-- Checks of trials, such as single tests, are left out, but for rewards.
-- An attempt whose score is not a number (NaN, a text) is left out. Runs count as in task_rates.
-- grain: run × provider × model × settings × task set × scorer × metric × filter × task
-- inherits: lake.result_scores, results, scores.task_facts, scores.setups
-- n_attempts: attempts with a score, be it a number or not
-- listed: scores of the attempts that have a number, in order
WITH counted AS (
    SELECT
        entry,
        suite,
        run_id,
        provider,
        model,
        settings,
        task_set,
        series
    FROM scores.entries AS entries
    SEMI JOIN scores.asked_sets AS asked ON entries.entry = asked.entry
),

-- Of a model whose calls all gave no answer, no pass rate is known. Few runs have a score of the
-- verdict's name, and only these are looked at.
judged AS (
    SELECT rates.entry, rates.task, traits.verdict_is_score
    FROM scores.task_rates AS rates
    LEFT JOIN suite_traits AS traits ON rates.suite = traits.suite
    SEMI JOIN (
        SELECT DISTINCT suite, run_id
        FROM lake.result_scores
        WHERE metric = 'passed' AND filter IS NULL
    ) AS named
        ON rates.suite = named.suite
        AND rates.run_id = named.run_id
    WHERE rates.is_judged AND rates.n_trials > 0
),

calls AS (
    SELECT
        suite,
        run_id,
        result_id,
        seq,
        entry,
        task_id,
        task_number(suite, task_set, task_id) AS task,
        attempt
    FROM scores.resolved_results
    WHERE NOT is_replay
),

-- A poster without a prediction scores 0 like any other, though it has no result.
called AS (
    SELECT
        suite,
        run_id,
        model,
        arg_min(
            {entry: entry, task_set: task_set}, (settings, task_set, coalesce(provider, ''))
        ) AS called
    FROM counted
    GROUP BY suite, run_id, model
),

recorded AS (
    SELECT suite, run_id, result_id, scorer, metric, filter, value
    FROM lake.result_scores
    -- A test of a patch says nothing by itself; a part of a reward does.
    WHERE check_class IS NULL OR check_class = 'reward'
    UNION ALL
    SELECT suite, run_id, result_id, scorer, metric, NULL AS filter, value
    FROM scores.rating_scores
    UNION ALL
    SELECT
        suite,
        run_id,
        result_id,
        NULL AS scorer,
        'tool_use' AS metric,
        NULL AS filter,
        CAST(is_used AS DOUBLE) AS value
    FROM scores.openclaw_tool_use
    -- Without a basis nothing is used, and the tools of the answer are not needed. Answers are read only
    -- of runs that can have one.
    WHERE
        tier_basis IS NOT NULL
        AND is_used IS NOT NULL
        AND run_id IN (
            SELECT run_id
            FROM scores.openclaw_answers
            WHERE has_tool_verdict
            UNION ALL
            SELECT run_id
            FROM scores.setups AS setups
            SEMI JOIN lake.tasks AS tasks ON setups.suite = tasks.suite
        )
    UNION ALL
    SELECT
        suite,
        run_id,
        result_id,
        NULL AS scorer,
        metric,
        NULL AS filter,
        value
    FROM scores.poster_sub_scores
    WHERE result_id IS NOT NULL
),

attempts AS (
    SELECT
        recorded.suite,
        recorded.run_id,
        calls.entry,
        calls.task,
        calls.task_id,
        calls.attempt,
        calls.seq,
        recorded.scorer,
        recorded.metric,
        recorded.filter,
        recorded.value
    FROM recorded
    JOIN calls USING (suite, run_id, result_id)
    UNION ALL
    SELECT
        missing.suite,
        missing.run_id,
        models.called.entry,
        task_number(missing.suite, models.called.task_set, missing.task_id) AS task,
        missing.task_id,
        1 AS attempt,
        missing.seq,
        NULL AS scorer,
        missing.metric,
        NULL AS filter,
        missing.value
    FROM scores.poster_sub_scores AS missing
    JOIN called AS models
        ON missing.suite = models.suite
        AND missing.run_id = models.run_id
        AND missing.model = models.model
    WHERE missing.result_id IS NULL
),

-- By run, too: a sync restricts the rows by it.
listed AS (
    SELECT
        suite,
        run_id,
        entry,
        task,
        scorer,
        metric,
        filter,
        any_value(task_id) AS task_id,
        count(*) AS n_attempts,
        coalesce(
            list(value ORDER BY attempt, seq, value) FILTER (value IS NOT NULL), []
        ) AS scored
    FROM attempts
    -- The verdict takes precedence over a score of the same name.
    ANTI JOIN judged
        ON attempts.metric = 'passed'
        AND (attempts.scorer IS NULL OR judged.verdict_is_score)
        AND attempts.filter IS NULL
        AND attempts.entry = judged.entry
        AND attempts.task = judged.task
    GROUP BY ALL
)

SELECT
    listed.suite,
    listed.run_id,
    counted.provider,
    counted.model,
    counted.settings,
    counted.task_set,
    listed.scorer,
    listed.metric,
    listed.filter,
    listed.task_id,
    listed.n_attempts,
    listed.scored AS listed,
    counted.entry,
    counted.series,
    listed.task
FROM listed
JOIN counted ON listed.entry = counted.entry
