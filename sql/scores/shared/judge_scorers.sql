-- The scorers that ask a model, of the scores that logs record: see judge_scorers of suite_traits. There are few
-- scorers, so that patterns are compared with them and not with all scores, which would take a thousand times as long.
-- grain: suite × scorer
-- inherits: lake.result_scores, suite_traits
SELECT suite, scorer, unread_reply
FROM (SELECT DISTINCT suite, scorer FROM lake.result_scores WHERE scorer IS NOT NULL) AS scorers
JOIN suite_traits USING (suite)
WHERE regexp_full_match(scorer, judge_scorers)
