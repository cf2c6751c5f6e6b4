-- What the steps of each trial come to. Steps that repeat those of an earlier trajectory do not count.
-- by_run
-- grain: result with steps
-- inherits: steps
-- n_steps: steps in the log's own unit
-- n_model_calls: calls of models
-- n_tool_calls: calls of tools
-- n_tool_errors: calls of tools with an error or an exit code other than 0
-- input_tokens: sum over the steps; NULL if no step has any, as are the other sums
-- last_step_at: end of the last step, UTC; the start of one that has no end
-- n_copied_steps: steps that repeat those of an earlier trajectory
-- copied_input_tokens: input tokens of such steps
SELECT
    suite,
    run_id,
    result_id,
    count(*) FILTER (is_counted AND NOT is_copied) AS n_steps,
    count(*) FILTER (kind = 'model' AND NOT is_copied) AS n_model_calls,
    count(*) FILTER (kind = 'tool' AND NOT is_copied) AS n_tool_calls,
    count(*) FILTER (
        kind = 'tool' AND NOT is_copied AND (error IS NOT NULL OR exit_code <> 0)
    ) AS n_tool_errors,
    CAST(sum(input_tokens) FILTER (NOT is_copied) AS BIGINT) AS input_tokens,
    CAST(sum(cached_tokens) FILTER (NOT is_copied) AS BIGINT) AS cached_tokens,
    CAST(sum(output_tokens) FILTER (NOT is_copied) AS BIGINT) AS output_tokens,
    CAST(sum(reasoning_tokens) FILTER (NOT is_copied) AS BIGINT) AS reasoning_tokens,
    sum(cost_usd ORDER BY seq) FILTER (NOT is_copied) AS cost_usd,
    max(coalesce(ended_at, started_at)) FILTER (NOT is_copied) AS last_step_at,
    count(*) FILTER (is_copied) AS n_copied_steps,
    CAST(sum(input_tokens) FILTER (is_copied) AS BIGINT) AS copied_input_tokens
FROM steps
GROUP BY suite, run_id, result_id
