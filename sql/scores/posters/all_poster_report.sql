-- The models of each poster run with every figure of its report, best first; of replayed runs too.
-- grain: run × model
-- inherits: scores.poster_figures
-- part: always all; poster_report_parts has the figures over gold and over silver ground truth
-- prediction_cost_usd: cost of the predictions, US dollars; unknown costs count as 0, as in the
--     original
-- judge_cost_usd: cost of the judge's calls, US dollars
-- ground_truth_cost_usd: cost of the whole dataset's ground truth, US dollars
-- total_cost_usd: sum of the three costs, US dollars
-- n_cost_unknown: predictions of unknown cost
-- is_on_pareto_front: whether no other model of the run has at least this app quality for at most
--     this cost of predictions, one of them being better; NULL if a cost is unknown
WITH figures AS (
    SELECT
        figures.*,
        rounded(costs.prediction_cost_usd, 6) AS prediction_cost_usd,
        rounded(costs.judge_cost_usd, 6) AS judge_cost_usd,
        rounded(costs.ground_truth_cost_usd, 6) AS ground_truth_cost_usd,
        rounded(costs.total_cost_usd, 6) AS total_cost_usd,
        costs.n_cost_unknown
    FROM scores.poster_figures AS figures
    JOIN scores.all_poster_costs AS costs
        ON figures.run_id = costs.run_id AND figures.model = costs.model
    WHERE figures.part = 'all'
),

dominated AS (
    SELECT DISTINCT ours.run_id, ours.model
    FROM figures AS ours
    JOIN figures AS others ON ours.run_id = others.run_id
    WHERE others.n_cost_unknown = 0
        AND others.app_quality_score >= ours.app_quality_score
        AND others.prediction_cost_usd <= ours.prediction_cost_usd
        AND (
            others.app_quality_score > ours.app_quality_score
            OR others.prediction_cost_usd < ours.prediction_cost_usd
        )
)

SELECT
    figures.suite,
    figures.run_id,
    figures.model,
    figures.part,
    figures.label,
    figures.posters,
    figures.missing_predictions,
    figures.judged,
    figures.app_quality_score,
    figures.app_quality_low,
    figures.app_quality_high,
    figures.app_quality_std,
    figures.app_core_score,
    figures.app_core_low,
    figures.app_core_high,
    figures.app_core_std,
    figures.avg_score,
    figures.schema_ok_rate,
    figures.schema_valid_rate,
    figures.schema_strict_rate,
    figures.json_parse_rate,
    figures.avg_top_level_score,
    figures.avg_event_match_score,
    figures.avg_core_event_match_score,
    figures.avg_event_count_score,
    figures.avg_location_score,
    figures.avg_venue_score,
    figures.avg_missing_field_rate,
    figures.avg_event_diff,
    figures.avg_date_f1,
    figures.prediction_cost_usd,
    figures.judge_cost_usd,
    figures.ground_truth_cost_usd,
    figures.total_cost_usd,
    figures.gold_posters,
    figures.silver_posters,
    figures.schema_exact_rate,
    figures.avg_missing_of_gold_rate,
    figures.n_cost_unknown,
    CASE
        WHEN figures.app_quality_score IS NULL OR figures.n_cost_unknown > 0 THEN NULL
        ELSE dominated.model IS NULL
    END AS is_on_pareto_front,
    figures.app_quality_mean,
    figures.app_core_mean
FROM figures
LEFT JOIN dominated ON figures.run_id = dominated.run_id AND figures.model = dominated.model
ORDER BY figures.run_id, figures.app_quality_mean DESC NULLS LAST, figures.model
