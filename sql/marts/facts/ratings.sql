-- What raters said of each answer by each criterion: people, judges, reward models, settled labels. What
-- judges of suites record (`judgements`) are ratings, too, and so are the scores of scorers that ask a model,
-- and what records of posters say.
-- grain: rating
-- inherits: lake.ratings, results
-- first: run_id, model, task_id, rater, criterion, value, label, status
-- run_id: run of the rating; NULL for the record of a poster, which belongs to no run
-- model: the model or system that gave the answer; NULL if not recorded, and if the task itself was rated
-- result_suite: suite of the rated result; NULL without a result
-- result_run_id: run of the rated result; NULL without a result
-- value: the rating as a number, 1 or 0 for a judge's verdict; NULL for a label, or without one
-- answer: what was rated, the same for all raters: the id of the result, or, where the store has none,
--     suite, task set, task and model
-- judge_model: the model that judges, where it is recorded
-- with_reference: whether the judge was shown a reference answer; NULL if not recorded
-- rating_id: id of the rating
-- is_current: whether it is the rater's newest rating of this answer, criterion and turn; scores all are
WITH judged_results AS (
    SELECT
        suite,
        run_id,
        model,
        task_id,
        min(content_id) AS result_id
    FROM lake.results
    SEMI JOIN lake.judgements AS judgements USING (suite, run_id)
    GROUP BY suite, run_id, model, task_id
    -- Of several attempts, the record does not say which was judged.
    HAVING count(*) = 1
),

given AS (
    SELECT
        suite,
        run_id,
        task_set,
        task_id,
        model,
        result_id,
        coalesce(rated_suite, suite) AS result_suite,
        coalesce(rated_run_id, run_id) AS result_run_id,
        coalesce(result_id, concat_ws('/', suite, task_set, task_id, model)) AS answer,
        criterion,
        turn,
        rater,
        slot,
        rater_kind,
        rater_config,
        value,
        label,
        scale_low,
        scale_high,
        scale_labels,
        status,
        sampling_probability,
        reason,
        raw_output,
        cost_usd,
        duration_ms,
        input_tokens,
        output_tokens,
        rated_at,
        seq,
        extra,
        content_id AS rating_id,
        file_sha256,
        batch
    FROM lake.ratings
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (content_id),
        suite AS result_suite,
        run_id AS result_run_id,
        coalesce(result_id, concat_ws('/', suite, task_set, task_id)) AS answer,
        content_id AS rating_id
    FROM scores.poster_ratings
    UNION ALL BY NAME
    SELECT
        judgements.suite,
        judgements.run_id,
        judgements.task_id,
        judgements.model,
        coalesce(judgements.result_id, calls.result_id) AS result_id,
        judgements.suite AS result_suite,
        judgements.run_id AS result_run_id,
        coalesce(
            judgements.result_id,
            calls.result_id,
            concat_ws('/', judgements.suite, judgements.task_id, judgements.model)
        ) AS answer,
        'overall' AS criterion,
        coalesce(nullif(concat_ws(' ', judgements.judge, judgements.rater), ''), 'judge') AS rater,
        'judge' AS rater_kind,
        CASE WHEN judgements.judge IS NOT NULL THEN to_json({model: judgements.judge}) END
            AS rater_config,
        coalesce(judgements.score, CAST(judgements.passed AS DOUBLE)) AS value,
        CASE
            -- A score by any other name may be on any scale.
            WHEN (judgements.document ->> concat_ws('_', judgements.rater, 'score')) IS NOT NULL
                THEN NULL
            WHEN judgements.score IS NOT NULL THEN 100.0
            WHEN judgements.passed IS NOT NULL THEN 1.0
        END AS scale_high,
        CASE WHEN scale_high IS NOT NULL THEN 0.0 END AS scale_low,
        CASE
            WHEN coalesce(judgements.score, CAST(judgements.passed AS DOUBLE)) IS NULL THEN 'unparsed'
            ELSE 'ok'
        END AS status,
        judgements.reason,
        judgements.raw_output,
        judgements.cost_usd,
        judgements.judgement_id AS rating_id,
        judgements.file_sha256,
        judgements.batch
    FROM judgements
    LEFT JOIN judged_results AS calls
        ON judgements.suite = calls.suite
        AND judgements.run_id = calls.run_id
        AND judgements.model = calls.model
        AND judgements.task_id = calls.task_id
    UNION ALL BY NAME
    SELECT
        scored.suite,
        scored.run_id,
        scored.result_id,
        scored.suite AS result_suite,
        scored.run_id AS result_run_id,
        scored.result_id AS answer,
        scored.metric AS criterion,
        scored.scorer AS rater,
        'judge' AS rater_kind,
        CASE WHEN starts_with(scored.explanation, judges.unread_reply) IS NOT true THEN scored.value END AS value,
        if(starts_with(scored.explanation, judges.unread_reply), 'unparsed', 'ok') AS status,
        scored.explanation AS reason,
        scored.position AS seq,
        true AS is_score,
        scored.content_id AS rating_id,
        scored.file_sha256,
        scored.batch
    FROM lake.result_scores AS scored
    JOIN scores.judge_scorers AS judges
        ON scored.suite = judges.suite
        AND scored.scorer = judges.scorer
    WHERE scored.value IS NOT NULL
),

-- Before the join: DuckDB sorts all columns of what a window is over.
dated AS (
    SELECT
        *,
        is_score IS NOT NULL
            OR coalesce(rater, CAST(slot AS VARCHAR)) IS NULL
            OR row_number() OVER (
                PARTITION BY answer, suite, criterion, turn, rater, slot, rater_kind, rater_config
                ORDER BY rated_at DESC NULLS LAST, batch DESC, rating_id
            ) = 1 AS is_current
    FROM given
)

SELECT
    given.suite,
    given.run_id,
    coalesce(given.task_set, calls.task_set) AS task_set,
    coalesce(calls.task_id, given.task_id) AS task_id,
    coalesce(calls.model, given.model) AS model,
    given.result_id,
    CASE WHEN given.result_id IS NOT NULL THEN given.result_suite END AS result_suite,
    CASE WHEN given.result_id IS NOT NULL THEN given.result_run_id END AS result_run_id,
    given.answer,
    given.criterion,
    given.turn,
    given.rater,
    given.slot,
    given.rater_kind,
    given.rater_config,
    given.rater_config ->> '$.model' AS judge_model,
    CAST(given.rater_config ->> '$.with_reference' AS BOOLEAN) AS with_reference,
    given.value,
    given.label,
    given.scale_low,
    given.scale_high,
    given.scale_labels,
    given.status,
    given.sampling_probability,
    given.reason,
    given.raw_output,
    given.cost_usd,
    given.duration_ms,
    given.input_tokens,
    given.output_tokens,
    given.rated_at,
    given.seq,
    given.is_current,
    given.extra,
    given.rating_id,
    given.file_sha256,
    given.batch
FROM dated AS given
LEFT JOIN results AS calls
    ON given.result_suite = calls.suite
    AND given.result_run_id = calls.run_id
    AND given.result_id = calls.result_id
