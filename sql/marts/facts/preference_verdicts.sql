-- What each rater's votes on a pair of answers come to, both orders of presentation together.
-- grain: run × pair × rater × criterion × turn
-- inherits: preferences
-- first: run_id, task_id, model_a, model_b, rater, outcome, is_consistent
-- answers_suite: suite of the answers; the votes' own where the store has none of them
-- model_a: model or system of one answer, the same one in all verdicts on the pair: as in the log, unless votes
--     have the answers both ways
-- model_b: model or system of the other
-- outcome: a, b, tie or both_bad where all votes agree, inconsistent where they do not; NULL without a
--     vote
-- is_consistent: whether the votes in both orders agree; NULL where there are not two orders with a vote
-- share_b: mean of the votes for b; NULL without a vote
-- n_votes: presentations
-- n_valid: presentations with a vote
-- rated_at: when the newest of the votes was given, UTC; NULL if not recorded
-- n_first: votes for the answer that was shown first
-- n_second: votes for the answer that was shown second
WITH votes AS (
    SELECT
        *,
        CASE
            WHEN NOT is_turned THEN outcome
            WHEN outcome = 'a' THEN 'b'
            WHEN outcome = 'b' THEN 'a'
            ELSE outcome
        END AS verdict
    FROM (
        -- As the log has it, unless votes on the pair have its answers both ways.
        SELECT
            *,
            (answer_a, model_a) <> min((answer_a, model_a)) OVER (PARTITION BY answers_suite, pair) AS is_turned
        FROM preferences
    ) AS given
)

SELECT
    suite,
    run_id,
    task_set,
    task_id,
    pair,
    answers_suite,
    any_value(if(is_turned, model_b, model_a)) AS model_a,
    any_value(if(is_turned, model_a, model_b)) AS model_b,
    any_value(if(is_turned, answer_b, answer_a)) AS answer_a,
    any_value(if(is_turned, answer_a, answer_b)) AS answer_b,
    criterion,
    turn,
    rater,
    slot,
    rater_kind,
    rater_config,
    CASE
        WHEN count(DISTINCT verdict) > 1 THEN 'inconsistent'
        ELSE any_value(verdict)
    END AS outcome,
    CASE
        WHEN count(DISTINCT first_shown) FILTER (verdict IS NOT NULL) = 2
            THEN count(DISTINCT verdict) = 1
    END AS is_consistent,
    ordered_mean(list(if(is_turned, 1 - share_b, share_b) ORDER BY vote_id)
        FILTER (share_b IS NOT NULL)) AS share_b,
    count(*) AS n_votes,
    count(verdict) AS n_valid,
    max(rated_at) AS rated_at,
    count(*) FILTER (is_for_first) AS n_first,
    count(*) FILTER (NOT is_for_first) AS n_second
FROM votes
GROUP BY
    suite, run_id, task_set, task_id, pair, answers_suite, criterion, turn, rater, slot, rater_kind, rater_config
