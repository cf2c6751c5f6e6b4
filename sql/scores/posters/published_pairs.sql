-- Each figure of a published report or ledger next to that of its run.
-- grain: report × form × model × metric; model is NULL for the report's own label
-- inherits: scores.published_figures
-- recomputed: the figure computed from the run; NULL if it is text, or unknown
-- recomputed_text: label computed from the run: gold or silver
-- n_reported: scored posters of the model, as reported
-- n_stored: scored posters of the model in the store; NULL where that does not matter
-- n: scored posters behind recomputed
-- reason: why the figure cannot be recomputed; NULL if it can
WITH figures_of_models AS (
    SELECT
        run_id,
        model,
        label,
        posters,
        MAP {
            'posters': CAST(posters AS DOUBLE),
            'missing_predictions': CAST(missing_predictions AS DOUBLE),
            'judged': CAST(judged AS DOUBLE),
            'app_quality_score': CAST(app_quality_score AS DOUBLE),
            'app_quality_low': CAST(app_quality_low AS DOUBLE),
            'app_quality_high': CAST(app_quality_high AS DOUBLE),
            'app_quality_std': CAST(app_quality_std AS DOUBLE),
            'app_core_score': CAST(app_core_score AS DOUBLE),
            'app_core_low': CAST(app_core_low AS DOUBLE),
            'app_core_high': CAST(app_core_high AS DOUBLE),
            'app_core_std': CAST(app_core_std AS DOUBLE),
            'avg_score': CAST(avg_score AS DOUBLE),
            'schema_ok_rate': CAST(schema_ok_rate AS DOUBLE),
            'schema_valid_rate': CAST(schema_valid_rate AS DOUBLE),
            'schema_strict_rate': CAST(schema_strict_rate AS DOUBLE),
            'json_parse_rate': CAST(json_parse_rate AS DOUBLE),
            'avg_top_level_score': CAST(avg_top_level_score AS DOUBLE),
            'avg_event_match_score': CAST(avg_event_match_score AS DOUBLE),
            'avg_core_event_match_score': CAST(avg_core_event_match_score AS DOUBLE),
            'avg_event_count_score': CAST(avg_event_count_score AS DOUBLE),
            'avg_location_score': CAST(avg_location_score AS DOUBLE),
            'avg_venue_score': CAST(avg_venue_score AS DOUBLE),
            'avg_missing_field_rate': CAST(avg_missing_field_rate AS DOUBLE),
            'avg_event_diff': CAST(avg_event_diff AS DOUBLE),
            'avg_date_f1': CAST(avg_date_f1 AS DOUBLE),
            'prediction_cost_usd': CAST(prediction_cost_usd AS DOUBLE),
            'judge_cost_usd': CAST(judge_cost_usd AS DOUBLE),
            'ground_truth_cost_usd': CAST(ground_truth_cost_usd AS DOUBLE),
            'total_cost_usd': CAST(total_cost_usd AS DOUBLE),
            'gold_posters': CAST(gold_posters AS DOUBLE),
            'silver_posters': CAST(silver_posters AS DOUBLE),
            'schema_exact_rate': CAST(schema_exact_rate AS DOUBLE),
            'avg_missing_of_gold_rate': CAST(avg_missing_of_gold_rate AS DOUBLE)
        } AS figures
    FROM poster_report
)

SELECT
    published.suite,
    published.report,
    published.source,
    published.run_id,
    published.seq,
    published.model,
    published.metric,
    published.value,
    published.text,
    published.reported_id,
    ours.figures[published.metric] AS recomputed,
    CASE WHEN published.metric = 'label' THEN coalesce(ours.label, runs.label) END
        AS recomputed_text,
    published.posters AS n_reported,
    -- The label of a report is about a run, not about a number of posters.
    CASE WHEN runs.run_id IS NULL THEN coalesce(ours.posters, 0) END AS n_stored,
    ours.posters AS n,
    CASE
        WHEN published.run_id IS NULL THEN 'the report names no run'
        WHEN starts_with(published.metric, 'difference from ') THEN 'see poster_comparisons'
        WHEN ours.run_id IS NULL THEN NULL
        WHEN published.metric = 'label' THEN NULL
        WHEN NOT map_contains(ours.figures, published.metric) THEN 'evalstore has no such figure'
        WHEN published.value IS NOT NULL AND published.posters <= ours.posters
            AND ours.figures[published.metric] IS NULL THEN 'nothing in the store gives it'
    END AS reason
FROM scores.published_figures AS published
LEFT JOIN figures_of_models AS ours
    ON published.run_id = ours.run_id AND published.model = ours.model
LEFT JOIN poster_runs AS runs
    ON published.suite = runs.suite
    AND published.run_id = runs.run_id
    AND published.model IS NULL
