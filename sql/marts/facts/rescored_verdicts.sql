-- The verdicts of `evalstore rescore` next to those that count: how each answer would be judged by another
-- scorer, and what that changes. `passed` in other views, and exports, do not change.
-- grain: result × scorer × version of the scorer
-- inherits: verdicts, lake.rescores
-- first: model, task_id, passed, rescored, change, reason, scorer, version, run_id
-- is_latest: whether the version is the last that was used of its scorer in the suite
-- rescored: verdict of this version of the scorer; NULL if it has none
-- change: `gained` if the answer passes by this scorer but not by passed, `lost` the other way round, or
--     `same`; NULL without one of the verdicts
WITH versions AS (
    SELECT suite, scorer, arg_max(version, (rescored_at, version)) AS version
    FROM lake.rescores
    GROUP BY suite, scorer
)

SELECT
    again.suite,
    again.run_id,
    again.result_id,
    again.scorer,
    again.version,
    again.version = versions.version AS is_latest,
    verdicts.provider,
    verdicts.model,
    verdicts.settings,
    verdicts.is_replay,
    verdicts.task_set,
    verdicts.task_id,
    verdicts.task_hash,
    verdicts.attempt,
    verdicts.passed,
    verdicts.verdict_source,
    again.passed AS rescored,
    CASE
        WHEN again.passed AND NOT verdicts.passed THEN 'gained'
        WHEN verdicts.passed AND NOT again.passed THEN 'lost'
        WHEN again.passed = verdicts.passed THEN 'same'
    END AS change,
    again.reason,
    again.rule,
    again.rescored_at,
    verdicts.duplicate_of,
    again.batch
FROM lake.rescores AS again
JOIN verdicts
    ON again.suite = verdicts.suite
    AND again.run_id = verdicts.run_id
    AND again.result_id = verdicts.result_id
JOIN versions
    ON again.suite = versions.suite
    AND again.scorer = versions.scorer
