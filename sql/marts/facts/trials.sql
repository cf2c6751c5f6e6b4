-- The trials of agents, each an attempt of one task by one system: results with a trial id or steps.
-- grain: result
-- inherits: verdicts, results, systems
-- first: run_id, task_id, system, passed, end_reason, n_steps, n_tool_calls, n_tool_errors, cost_usd
-- system: label of the tested system; the model's name where there is no agent
-- model: the agent's main model; NULL if it is not recorded
-- n_steps: steps as recorded, else counted; NULL if the log has none
-- n_model_calls: calls of models among the steps
-- n_tool_calls: calls of tools as recorded, else counted among the steps
-- n_tool_errors: calls of tools that failed, as recorded, else counted: an error, or an exit code
--     other than 0
-- input_tokens: tokens of the prompts as recorded for the trial, else the sum over its steps
-- cached_tokens: those of them that came from a cache, likewise
-- output_tokens: tokens of the answers, likewise
-- reasoning_tokens: those of them that are reasoning, likewise
-- cost_usd: cost of the trial as recorded, US dollars, else the sum over its steps
-- duration_ms: from its start to its end, milliseconds
SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    calls.trial_id,
    calls.task_set,
    calls.task_id,
    calls.attempt,
    calls.model AS system,
    systems.agent,
    systems.agent_version,
    systems.harness,
    systems.harness_version,
    systems.model,
    systems.models,
    coalesce(calls.is_correct, calls.objective_pass, calls.computed) AS passed,
    calls.end_reason,
    calls.recorded_end,
    coalesce(calls.n_steps, totals.n_steps) AS n_steps,
    totals.n_model_calls,
    coalesce(calls.tool_call_count, totals.n_tool_calls) AS n_tool_calls,
    coalesce(calls.n_tool_errors, totals.n_tool_errors) AS n_tool_errors,
    coalesce(calls.input_tokens, totals.input_tokens) AS input_tokens,
    coalesce(calls.cached_tokens, totals.cached_tokens) AS cached_tokens,
    coalesce(calls.output_tokens, totals.output_tokens) AS output_tokens,
    coalesce(calls.reasoning_tokens, totals.reasoning_tokens) AS reasoning_tokens,
    calls.token_scope,
    coalesce(calls.cost_usd, totals.cost_usd) AS cost_usd,
    calls.started_at,
    calls.ended_at,
    coalesce(
        CAST(date_diff('millisecond', calls.started_at, calls.ended_at) AS DOUBLE),
        calls.duration_seconds * 1000
    ) AS duration_ms,
    calls.duplicate_of
FROM scores.resolved_results AS calls
LEFT JOIN scores.step_totals AS totals
    ON calls.suite = totals.suite
    AND calls.run_id = totals.run_id
    AND calls.result_id = totals.result_id
LEFT JOIN systems
    ON calls.suite = systems.suite
    AND calls.run_id = systems.run_id
    AND calls.model = systems.system
WHERE calls.trial_id IS NOT NULL OR totals.result_id IS NOT NULL
ORDER BY calls.suite, calls.run_id, calls.seq
