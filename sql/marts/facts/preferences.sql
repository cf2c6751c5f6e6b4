-- Votes between two answers, each as it was presented: both orders of a pair are two votes.
-- grain: vote
-- inherits: lake.preferences, results
-- first: run_id, task_id, model_a, model_b, rater, first_shown, outcome, status
-- model_a: model or system that gave answer a
-- model_b: model or system that gave answer b
-- answers_suite: suite of the answers; the vote's own where the store has none of them
-- answer_a: answer a, the same for all raters: the id of its result, or, where the store has none,
--     suite, task set, task and model
-- answer_b: answer b, likewise
-- suite_a: suite of result_a; NULL without a result
-- run_id_a: run of result_a; NULL without a result
-- suite_b: suite of result_b; NULL without a result
-- run_id_b: run of result_b; NULL without a result
-- pair: the two answers, the same for all votes on them, whichever is a
-- share_b: the vote as a number: 1 for b, 0.5 for neither, 0 for a; weight_b where it is recorded; NULL
--     without a vote
-- is_for_first: whether the answer shown first won: NULL for a tie, and where the order is not known
-- judge_model: the model that judges, where it is recorded
-- with_reference: whether the judge was shown a reference answer; NULL if not recorded
-- vote_id: id of the vote
WITH votes AS (
    SELECT
        *,
        coalesce(result_a, concat_ws('/', suite, task_set, task_id, model_a)) AS answer_a,
        coalesce(result_b, concat_ws('/', suite, task_set, task_id, model_b)) AS answer_b,
        coalesce(suite_a, suite) AS result_suite_a,
        coalesce(run_id_a, run_id) AS result_run_a,
        coalesce(suite_b, suite) AS result_suite_b,
        coalesce(run_id_b, run_id) AS result_run_b
    FROM lake.preferences
)

SELECT
    votes.suite,
    votes.run_id,
    votes.task_set,
    votes.task_id,
    votes.pair_id,
    concat_ws(
        ' ', least(votes.answer_a, votes.answer_b), greatest(votes.answer_a, votes.answer_b)
    ) AS pair,
    votes.result_suite_a AS answers_suite,
    coalesce(side_a.model, votes.model_a) AS model_a,
    coalesce(side_b.model, votes.model_b) AS model_b,
    votes.answer_a,
    votes.answer_b,
    votes.result_a,
    CASE WHEN votes.result_a IS NOT NULL THEN votes.result_suite_a END AS suite_a,
    CASE WHEN votes.result_a IS NOT NULL THEN votes.result_run_a END AS run_id_a,
    votes.result_b,
    CASE WHEN votes.result_b IS NOT NULL THEN votes.result_suite_b END AS suite_b,
    CASE WHEN votes.result_b IS NOT NULL THEN votes.result_run_b END AS run_id_b,
    votes.criterion,
    votes.turn,
    votes.rater,
    votes.slot,
    votes.rater_kind,
    votes.rater_config,
    votes.rater_config ->> '$.model' AS judge_model,
    CAST(votes.rater_config ->> '$.with_reference' AS BOOLEAN) AS with_reference,
    votes.first_shown,
    votes.outcome,
    CASE
        WHEN votes.status <> 'ok' THEN NULL
        WHEN votes.weight_b IS NOT NULL THEN votes.weight_b
        WHEN votes.outcome = 'a' THEN 0.0
        WHEN votes.outcome = 'b' THEN 1.0
        WHEN votes.outcome IN ('tie', 'both_bad') THEN 0.5
    END AS share_b,
    votes.weight_b,
    votes.strength,
    CASE WHEN votes.outcome IN ('a', 'b') THEN votes.outcome = votes.first_shown END AS is_for_first,
    votes.status,
    votes.reason,
    votes.raw_output,
    votes.cost_usd,
    votes.duration_ms,
    votes.input_tokens,
    votes.output_tokens,
    votes.rated_at,
    votes.seq,
    votes.extra,
    votes.content_id AS vote_id,
    votes.file_sha256,
    votes.batch
FROM votes
LEFT JOIN results AS side_a
    ON votes.result_suite_a = side_a.suite
    AND votes.result_run_a = side_a.run_id
    AND votes.result_a = side_a.result_id
LEFT JOIN results AS side_b
    ON votes.result_suite_b = side_b.suite
    AND votes.result_run_b = side_b.run_id
    AND votes.result_b = side_b.result_id
