-- What the calls of a model in a run came to, and how many of them have an outcome: as scores.outcomes
-- says, a call without an answer did not pass, unless nothing judges its task.
-- grain: run × provider × model × settings × task set × is_replay × is_counted
-- inherits: scores.entry_calls, scores.setups
-- n_outcomes: calls with a verdict, and those without an answer at tasks that have verdicts elsewhere
WITH unjudged AS (
    SELECT
        facts.entry,
        CAST(sum(facts.n_open_counted) AS BIGINT) AS n_counted,
        CAST(sum(facts.n_open - facts.n_open_counted) AS BIGINT) AS n_others
    FROM scores.task_facts AS facts
    ANTI JOIN scores.judged_tasks AS judged
        ON facts.task = judged.task
        AND facts.is_replay = judged.is_replay
    WHERE facts.n_open > 0
    GROUP BY facts.entry
)

SELECT
    calls.suite,
    calls.run_id,
    entries.provider,
    entries.model,
    entries.settings,
    entries.task_set,
    calls.is_replay,
    calls.is_counted,
    calls.n_results,
    calls.n_unanswered,
    calls.n_judged,
    calls.n_recorded,
    calls.n_passed,
    calls.n_judged + calls.n_open
        - coalesce(if(calls.is_counted, unjudged.n_counted, unjudged.n_others), 0) AS n_outcomes,
    calls.first_date,
    calls.last_date,
    calls.entry
FROM scores.entry_calls AS calls
JOIN scores.entries AS entries ON calls.entry = entries.entry
LEFT JOIN unjudged ON calls.entry = unjudged.entry
