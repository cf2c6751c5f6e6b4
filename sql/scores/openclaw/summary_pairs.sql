-- Each figure of an imported summary.json next to ours.
-- grain: run × provider × model × thinking level × field; provider is NULL for the whole run
-- inherits: scores.summary_figures
-- recorded: value in the summary, as text; NULL if it has none
-- computed: value computed from the results, as text; NULL if there is none
-- n_recorded: results behind the figure, as recorded; NULL if it is one of a snapshot
-- n_computed: results behind the figure in the store
WITH computed_groups AS (
    SELECT
        run_id,
        provider,
        model,
        thinking_level,
        json_object(
            'n_total', n_total,
            'n_ok', n_ok,
            'n_success', n_success,
            'n_skipped_unavailable', n_skipped_unavailable,
            'n_rate_limited', n_rate_limited,
            'n_error', n_error,
            'success_rate_ok', success_rate_ok,
            'objective_pass_rate', objective_pass_rate,
            'wall_clock_ms', wall_clock_ms,
            'latency_ms', json_object('p50', p50_ms, 'p95', p95_ms, 'p99', p99_ms, 'mean', mean_ms),
            'resources_before', CAST(resources_before AS JSON),
            'resources_after', CAST(resources_after AS JSON)
        ) AS document
    FROM scores.all_openclaw_summary
    SEMI JOIN scores.recorded_summaries USING (run_id)
),

wall_clocks AS (
    SELECT run_id, epoch_ms(max(ended_at)) - epoch_ms(min(started_at)) AS wall_clock_ms
    FROM lake.results
    WHERE suite = 'openclaw'
    GROUP BY run_id
),

figures AS (
    SELECT
        run_id, provider, model, thinking_level, field, is_of_calls, recorded,
        NULL AS computed
    FROM scores.summary_figures
    UNION ALL
    SELECT
        groups.run_id, groups.provider, groups.model, groups.thinking_level,
        fields.field, fields.is_of_calls,
        NULL,
        json_extract_string(groups.document, '$.' || fields.field)
    FROM computed_groups AS groups CROSS JOIN scores.summary_fields AS fields
    UNION ALL
    SELECT
        run_id, NULL, NULL, NULL, 'run_wall_clock_ms', true, NULL,
        CAST(wall_clock_ms AS VARCHAR)
    FROM wall_clocks
    SEMI JOIN scores.recorded_summaries USING (run_id)
),

pairs AS (
    SELECT
        run_id, provider, model, thinking_level, field, is_of_calls,
        max(recorded) AS recorded,
        max(computed) AS computed
    FROM figures
    WHERE recorded IS NOT NULL OR computed IS NOT NULL
    GROUP BY run_id, provider, model, thinking_level, field, is_of_calls
),

totals AS (
    SELECT
        *,
        CASE WHEN field = 'n_total' THEN try_cast(recorded AS BIGINT) END AS total_recorded,
        CASE WHEN field = 'n_total' THEN try_cast(computed AS BIGINT) END AS total_computed
    FROM pairs
)

SELECT
    'openclaw' AS suite,
    run_id,
    provider,
    model,
    thinking_level,
    field,
    is_of_calls,
    recorded,
    computed,
    CAST(CASE
        WHEN field = 'run_wall_clock_ms' THEN sum(total_recorded) OVER of_run
        WHEN is_of_calls THEN max(total_recorded) OVER of_group
    END AS BIGINT) AS n_recorded,
    CAST(CASE
        WHEN field = 'run_wall_clock_ms' THEN coalesce(sum(total_computed) OVER of_run, 0)
        WHEN is_of_calls THEN coalesce(max(total_computed) OVER of_group, 0)
    END AS BIGINT) AS n_computed
FROM totals
WINDOW
    of_run AS (PARTITION BY run_id),
    of_group AS (PARTITION BY run_id, provider, model, thinking_level)
