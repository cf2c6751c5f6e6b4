-- Every field of summary.json, and more of our own; of replayed runs too.
-- grain: run × provider × model × thinking level (of openclaw)
-- inherits: results
-- n_total: results, whatever their status
-- n_ok: results with status ok
-- n_success: successful results among them
-- n_skipped_unavailable: results with status skipped_unavailable
-- n_rate_limited: results with status rate_limited
-- n_auth_error: results with status auth_error
-- n_error: results with status error
-- success_rate_ok: n_success / n_ok
-- objective_pass_rate: share of the successful, judged results that passed; NULL of an adaptive run
-- n_recorded: judged results whose verdict is the log's
-- n_computed: judged results whose verdict is computed; without the prompts there are none
-- wall_clock_ms: from the first start to the last end, milliseconds
-- mean_ms: mean end-to-end latency of the successful calls, milliseconds
-- resources_before: system resources before the model's suite, JSON
-- resources_after: system resources after the model's suite, JSON
-- n_tool_counted: answered calls that count for the tool tier, over all settings of the group
-- tool_use_rate: share of n_tool_counted that used an expected tool
-- tool_tier: tier of tool_use_rate, 1 to 3; NULL if no call is known to ask for a tool
-- tier_basis: `expected` or `inferred`: how it is known which calls count; see tool_use
-- recorded_rate: share of the answered calls recorded to have used a tool, whether or not they ask
--     for one; only where the tier is unknown
-- recorded_tier: tier of recorded_rate; see tool_tiers
-- remark: of an adaptive run, why it has no pass rate
WITH calls AS (
    SELECT
        results.*,
        coalesce(availability_status = 'ok' AND success, false) AS is_success,
        CASE WHEN is_success THEN CAST(e2e_ms AS DOUBLE) END AS timed_ms,
        CASE WHEN is_success THEN coalesce(results.objective_pass, computed.objective_pass) END AS passed,
        is_success AND results.objective_pass IS NOT NULL AS is_recorded,
        is_success AND results.objective_pass IS NULL
            AND computed.objective_pass IS NOT NULL AS is_computed
    FROM results
    LEFT JOIN scores.openclaw_verdicts AS computed
        ON results.suite = computed.suite
        AND results.run_id = computed.run_id
        AND results.result_id = computed.content_id
    WHERE results.suite = 'openclaw'
),

groups AS (
    SELECT
        run_id,
        provider,
        model,
        thinking_level,
        regexp_replace(
            concat(provider, '__', model, '__', coalesce(nullif(thinking_level, ''), 'none')),
            '[^A-Za-z0-9_.-]+', '_', 'g'
        ) AS tag,
        count(*) AS n_total,
        count(*) FILTER (availability_status = 'ok') AS n_ok,
        count(*) FILTER (is_success) AS n_success,
        count(*) FILTER (availability_status = 'skipped_unavailable') AS n_skipped_unavailable,
        count(*) FILTER (availability_status = 'rate_limited') AS n_rate_limited,
        count(*) FILTER (availability_status = 'auth_error') AS n_auth_error,
        count(*) FILTER (availability_status = 'error') AS n_error,
        count(passed) AS n_judged,
        count(*) FILTER (passed) AS n_passed,
        count(*) FILTER (is_recorded) AS n_recorded,
        count(*) FILTER (is_computed) AS n_computed,
        epoch_ms(max(ended_at)) - epoch_ms(min(started_at)) AS wall_clock_ms,
        list_sort(list(timed_ms) FILTER (timed_ms IS NOT NULL)) AS times_ms,
        CAST(sum(e2e_ms) FILTER (is_success) AS DOUBLE) / count(timed_ms) AS mean_ms
    FROM calls
    GROUP BY run_id, provider, model, thinking_level
),

snapshots_by_tag AS (
    SELECT
        run_id,
        tag,
        max(parsed) FILTER (phase = 'before') AS resources_before,
        max(parsed) FILTER (phase = 'after') AS resources_after
    FROM snapshots
    WHERE suite = 'openclaw' AND is_latest
    GROUP BY run_id, tag
),

tools AS (
    SELECT
        run_id,
        provider,
        model,
        thinking_level,
        CAST(sum(n_counted) AS BIGINT) AS n_counted,
        CAST(sum(n_used) AS BIGINT) AS n_used,
        max(tier_basis) AS tier_basis,
        sum(n_recorded) AS n_recorded,
        sum(n_recorded_used) AS n_recorded_used
    FROM scores.all_tool_use AS tool_use
    GROUP BY run_id, provider, model, thinking_level
)

SELECT
    groups.run_id,
    groups.provider,
    groups.model,
    groups.thinking_level,
    groups.n_total,
    groups.n_ok,
    groups.n_success,
    groups.n_skipped_unavailable,
    groups.n_rate_limited,
    groups.n_auth_error,
    groups.n_error,
    groups.n_success / nullif(groups.n_ok, 0) AS success_rate_ok,
    if(is_adaptive, NULL, groups.n_passed / nullif(groups.n_judged, 0)) AS objective_pass_rate,
    groups.n_recorded,
    groups.n_computed,
    groups.wall_clock_ms,
    linear_percentile(groups.times_ms, 0.50) AS p50_ms,
    linear_percentile(groups.times_ms, 0.95) AS p95_ms,
    linear_percentile(groups.times_ms, 0.99) AS p99_ms,
    groups.mean_ms,
    snapshots_by_tag.resources_before,
    snapshots_by_tag.resources_after,
    tools.n_counted AS n_tool_counted,
    tools.n_used / nullif(tools.n_counted, 0) AS tool_use_rate,
    tool_tier(tool_use_rate) AS tool_tier,
    tools.tier_basis,
    CASE
        WHEN tools.n_counted = 0 THEN tools.n_recorded_used / nullif(tools.n_recorded, 0)
    END AS recorded_rate,
    tool_tier(recorded_rate) AS recorded_tier,
    adaptive_remark(is_adaptive) AS remark
FROM groups
JOIN scores.run_headers AS headers
    ON headers.suite = 'openclaw'
    AND groups.run_id = headers.run_id
LEFT JOIN snapshots_by_tag
    ON groups.run_id = snapshots_by_tag.run_id AND groups.tag = snapshots_by_tag.tag
LEFT JOIN tools
    ON groups.run_id = tools.run_id
    AND groups.provider IS NOT DISTINCT FROM tools.provider
    AND groups.model IS NOT DISTINCT FROM tools.model
    AND groups.thinking_level IS NOT DISTINCT FROM tools.thinking_level
ORDER BY
    run_id,
    provider,
    model,
    coalesce(groups.thinking_level, 'None'),
    groups.thinking_level NULLS FIRST
