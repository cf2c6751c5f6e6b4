-- The trials of agents, each an attempt of one task by one system: results with a trial id or steps.
-- grain: result
-- inherits: verdicts, results, systems
-- first: run_id, task_id, system, passed, end_reason, n_steps, n_tool_calls, n_tool_errors, cost_usd
-- system: label of the tested system; the model's name where there is no agent
-- model: the agent's main model; NULL if it is not recorded
-- n_steps: steps as recorded, else counted; NULL if the log has none
-- n_model_calls: calls of models among the steps
-- n_tool_calls: calls of tools among the steps; as recorded where the log has no steps
-- n_tool_errors: calls of tools that failed, as recorded, else counted: an error, or an exit code
--     other than 0
-- agent: name of the agent; of Inspect's samples, the solver of the evaluation
-- input_tokens: tokens of the prompts as recorded for the trial, else the sum over its steps; of Inspect's
--     samples the sum over all models, sub-agents and graders included
-- cached_tokens: those of them that came from a cache, likewise
-- output_tokens: tokens of the answers, likewise
-- reasoning_tokens: those of them that are reasoning, likewise
-- cost_usd: cost of the trial, US dollars, likewise
-- ended_at: end of the trial as recorded; where only its start is, the end of its last step
-- duration_ms: from its start to its end, milliseconds
SELECT
    calls.suite,
    calls.run_id,
    calls.result_id,
    coalesce(calls.trial_id, samples.trial_id) AS trial_id,
    calls.task_set,
    calls.task_id,
    calls.attempt,
    calls.model AS system,
    coalesce(systems.agent, samples.agent) AS agent,
    systems.agent_version,
    systems.harness,
    systems.harness_version,
    systems.model,
    systems.models,
    coalesce(calls.is_correct, calls.objective_pass, calls.computed) AS passed,
    coalesce(calls.end_reason, samples.end_reason) AS end_reason,
    coalesce(calls.recorded_end, samples.recorded_end) AS recorded_end,
    coalesce(calls.n_steps, totals.n_steps) AS n_steps,
    totals.n_model_calls,
    coalesce(totals.n_tool_calls, calls.tool_call_count) AS n_tool_calls,
    coalesce(calls.n_tool_errors, totals.n_tool_errors) AS n_tool_errors,
    coalesce(if(samples.result_id IS NULL, calls.input_tokens, NULL), totals.input_tokens, calls.input_tokens) AS input_tokens,
    coalesce(if(samples.result_id IS NULL, calls.cached_tokens, NULL), totals.cached_tokens, calls.cached_tokens) AS cached_tokens,
    coalesce(if(samples.result_id IS NULL, calls.output_tokens, NULL), totals.output_tokens, calls.output_tokens) AS output_tokens,
    coalesce(if(samples.result_id IS NULL, calls.reasoning_tokens, NULL), totals.reasoning_tokens, calls.reasoning_tokens) AS reasoning_tokens,
    coalesce(calls.token_scope, CASE WHEN samples.result_id IS NOT NULL THEN 'tree' END)
        AS token_scope,
    coalesce(if(samples.result_id IS NULL, calls.cost_usd, NULL), totals.cost_usd, calls.cost_usd) AS cost_usd,
    calls.started_at,
    coalesce(
        calls.ended_at,
        CASE
            WHEN calls.started_at IS NOT NULL AND samples.result_id IS NULL THEN totals.last_step_at
        END
    ) AS ended_at,
    coalesce(
        CAST(date_diff('millisecond', calls.started_at, calls.ended_at) AS DOUBLE),
        calls.duration_seconds * 1000,
        CASE
            WHEN samples.result_id IS NULL
                THEN CAST(date_diff('millisecond', calls.started_at, totals.last_step_at) AS DOUBLE)
        END
    ) AS duration_ms,
    calls.duplicate_of
FROM scores.resolved_results AS calls
LEFT JOIN scores.step_totals AS totals
    ON calls.suite = totals.suite
    AND calls.run_id = totals.run_id
    AND calls.result_id = totals.result_id
LEFT JOIN scores.inspect_trials AS samples
    ON calls.suite = samples.suite
    AND calls.run_id = samples.run_id
    AND calls.result_id = samples.result_id
LEFT JOIN systems
    ON calls.suite = systems.suite
    AND calls.run_id = systems.run_id
    AND calls.model = systems.system
WHERE calls.trial_id IS NOT NULL OR totals.result_id IS NOT NULL
ORDER BY calls.suite, calls.run_id, calls.seq
