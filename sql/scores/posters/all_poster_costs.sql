-- The cost of each model of a poster run, over the scored posters; of replayed runs too.
-- grain: run × model
-- n_cost_known: predictions of known cost
-- n_cost_unknown: predictions of unknown cost, which counts as 0, as in the original
WITH scored AS (
    SELECT
        inputs.run_id,
        inputs.model,
        inputs.task_id,
        inputs.seq,
        inputs.output_state <> 'missing' AS is_predicted,
        predictions.cost_usd
    FROM scores.poster_score_inputs AS inputs
    LEFT JOIN scores.poster_predictions AS predictions
        ON inputs.run_id = predictions.run_id
        AND inputs.model = predictions.model
        AND inputs.task_id = predictions.task_id
),

judged AS (
    SELECT run_id, model, task_id, cost_usd
    FROM lake.judgements
    WHERE suite = 'posters'
    QUALIFY row_number() OVER (
        PARTITION BY run_id, model, task_id ORDER BY batch DESC, content_id
    ) = 1
),

by_model AS (
    SELECT
        scored.run_id,
        scored.model,
        count(scored.cost_usd) AS n_cost_known,
        count(*) FILTER (scored.is_predicted AND scored.cost_usd IS NULL) AS n_cost_unknown,
        list(scored.cost_usd ORDER BY scored.seq, scored.task_id)
            FILTER (scored.cost_usd IS NOT NULL) AS prediction_costs,
        list(judged.cost_usd ORDER BY scored.seq, scored.task_id)
            FILTER (judged.cost_usd IS NOT NULL) AS judge_costs
    FROM scored
    LEFT JOIN judged
        ON scored.run_id = judged.run_id
        AND scored.model = judged.model
        AND scored.task_id = judged.task_id
    GROUP BY scored.run_id, scored.model
),

ground_truth AS (
    SELECT
        run_id,
        ordered_sum(
            list(ground_truth_cost_usd ORDER BY seq, task_id)
                FILTER (ground_truth_cost_usd IS NOT NULL)
        ) AS cost
    FROM scores.poster_ground_truth
    WHERE status = 'ok' AND exclusion IS NULL AND gold IS NOT NULL
    GROUP BY run_id
),

models AS (
    SELECT suite, run_id, unnest(models) AS model
    FROM scores.poster_run_setups
)

SELECT
    models.suite,
    models.run_id,
    models.model,
    coalesce(by_model.n_cost_known, 0) AS n_cost_known,
    coalesce(by_model.n_cost_unknown, 0) AS n_cost_unknown,
    coalesce(ordered_sum(by_model.prediction_costs), 0.0) AS prediction_cost_usd,
    coalesce(ordered_sum(by_model.judge_costs), 0.0) AS judge_cost_usd,
    coalesce(ground_truth.cost, 0.0) AS ground_truth_cost_usd,
    ground_truth_cost_usd + prediction_cost_usd + judge_cost_usd AS total_cost_usd
FROM models
LEFT JOIN by_model ON models.run_id = by_model.run_id AND models.model = by_model.model
LEFT JOIN ground_truth ON models.run_id = ground_truth.run_id
ORDER BY models.run_id, models.model
